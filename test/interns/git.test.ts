import { execFileSync, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { mkdtempSync, writeFileSync } from "node:fs"
import http from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterEach, describe, expect, test } from "vitest"
import { Disk } from "../../src/interns/embedded/shell/disk.ts"
import { runShell } from "../../src/interns/embedded/shell/shell.ts"
import type { ShellFetch } from "../../src/interns/embedded/shell/shell-fetch.ts"
import { sqlStorage } from "../support/sql-storage.ts"
import { removeFolder } from "../support/remove-folder.ts"

const NO_NETWORK: ShellFetch = () => Promise.reject(new Error("no network"))

function newShell(fetch: ShellFetch = NO_NETWORK, env: Record<string, string> = {}) {
  const disk = new Disk(sqlStorage())
  return (command: string) => runShell(disk, { command, env, signal: AbortSignal.timeout(20_000), fetch })
}

const BEGIN = "git init -q && echo one > a.txt && git add . && git commit -q -m First"

describe("git in the shell", () => {
  test("keeps its repository between commands, and shows changes", async () => {
    const run = newShell()
    expect(await run(BEGIN)).toBe("(no output)")
    expect(await run("echo two > a.txt; git add .; echo six > a.txt; git status -s; git reset -q --hard")).toBe(
      "MM a.txt\n",
    )
    await run("printf 'one\\ntwo\\n' > a.txt; echo new > b.txt; mkdir -p c; echo x > c/d.txt; git add c")
    expect(await run("git status --short")).toBe(" M a.txt\n?? b.txt\nA  c/d.txt\n")
    expect(await run("git status")).toContain("Changes not staged for commit:\n\tmodified:   a.txt")
    expect(await run("git diff")).toBe(
      "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,1 +1,2 @@\n one\n+two\n",
    )
    expect(await run("git diff --cached --name-status")).toBe("A\tc/d.txt\n")
    expect(await run("git commit -am Second && git log --oneline | cut -d' ' -f2")).toMatch(/Second\nFirst\n$/)
    expect(await run("git diff --name-only HEAD~1 HEAD")).toBe("a.txt\nc/d.txt\n")
    expect(await run("git show HEAD:a.txt")).toBe("one\ntwo\n")
    expect(await run("git show | head -5")).toContain("Author: intern <intern@localhost>")
  })

  test("creates and switches branches, merges, resets and restores", async () => {
    const run = newShell()
    await run(BEGIN)
    await run("git checkout -b topic && echo two >> a.txt && git commit -am Topic")
    expect(await run("git branch")).toBe("  main\n* topic\n")
    expect(await run("git checkout main && cat a.txt")).toContain("one\n")
    expect(await run("git merge topic; cat a.txt")).toContain("Fast-forward")
    expect(await run("echo lost > a.txt; git checkout -- a.txt; cat a.txt")).toBe("one\ntwo\n")
    expect(await run("echo x > a.txt; git add a.txt; git reset -q; git status -s")).toBe(" M a.txt\n")
    expect(await run("git reset --hard HEAD~1; cat a.txt; git status -s")).toMatch(/^HEAD is now at .*\none\n$/)
    expect(await run("git rm a.txt; git status -s")).toBe("rm 'a.txt'\nD  a.txt\n")
  })

  test("reads the author from its configuration, and reports unsupported commands", async () => {
    const run = newShell()
    await run("git init -q; git config user.name Ada; git config user.email ada@example.com; touch a; git add a")
    expect(await run("git commit -m First >/dev/null; git log -1")).toContain("Author: Ada <ada@example.com>")
    expect(await run("cd /tmp && git status")).toContain("fatal: not a git repository")
    expect(await run("git rebase main")).toContain("git: 'rebase' is not a command of this shell's git")
    expect(await run("git log --graph")).toContain("unknown option `--graph'")
    expect(await run("git clone ssh://git@example.com/x.git")).toContain("only https")
    expect(await run("git clone http://example.com/x.git")).toContain("only https")
    expect(await run("git commit -m Empty")).toContain("nothing to commit")
  })
})

const ending: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end()
})

/** git's HTTP server as CGI. The shell's requests to https://git.example.com/ go there. */
async function newServer() {
  const root = mkdtempSync(path.join(tmpdir(), "gateway-git-"))
  ending.push(() => removeFolder(root))
  const git = (...args: string[]) => execFileSync("git", args, { cwd: root, stdio: "pipe" }).toString()
  const set = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
  git("init", "-q", "--bare", "-b", "main", "notes.git")
  git("-C", "notes.git", "config", "http.receivepack", "true")
  git("clone", "-q", "notes.git", "work")
  for (const [name, text] of [
    ["README.md", "Notes\n"],
    ["second.md", "More\n"],
  ] as const) {
    writeFileSync(path.join(root, "work", name), text)
    git("-C", "work", "add", ".")
    git(...set, "-C", "work", "commit", "-q", "-m", `Add ${name}`)
  }
  git("-C", "work", "push", "-q", "origin", "HEAD:main")
  const requests: { authorization: string | undefined; path: string }[] = []
  const server = http.createServer((request, response) => {
    const url = new URL(request.url ?? "", "http://git")
    requests.push({ authorization: request.headers.authorization, path: url.pathname })
    const env = {
      PATH: process.env["PATH"],
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      REQUEST_METHOD: request.method ?? "",
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      REMOTE_USER: "ada",
    }
    const child = spawn("git", ["http-backend"], { env })
    request.pipe(child.stdin)
    const chunks: Buffer[] = []
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk))
    child.on("close", () => {
      const pack = Buffer.concat(chunks)
      const split = pack.indexOf("\r\n\r\n")
      const headers = Object.fromEntries(
        pack
          .subarray(0, split)
          .toString()
          .split("\r\n")
          .map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string]),
      )
      const { Status: status = "200", ...rest } = headers
      response.writeHead(Number.parseInt(status, 10), rest)
      response.end(pack.subarray(split + 4))
    })
  })
  server.listen(0, "127.0.0.1")
  await new Promise((resolve) => server.once("listening", resolve))
  ending.push(() => server.close())
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const fetch: ShellFetch = async (url, { method = "GET", headers = {}, body } = {}) => {
    const { pathname, search, host } = new URL(url)
    if (host !== "git.example.com") throw new Error(`${host} is not known`)
    const sent = body === undefined ? {} : { body: typeof body === "string" ? body : new Uint8Array(body) }
    const answer = await globalThis.fetch(`${origin}${pathname}${search}`, { method, headers, ...sent })
    const bytes = new Uint8Array(await answer.arrayBuffer())
    const { status, statusText } = answer
    return { status, statusText, headers: Object.fromEntries(answer.headers), body: bytes, url }
  }
  return { root, git, fetch, requests }
}

describe("git over https", () => {
  test("clones from git's HTTP server, commits, pushes, and pulls commits of others", async () => {
    const { git, fetch } = await newServer()
    const run = newShell(fetch)
    expect(await run("git clone https://git.example.com/notes.git")).toBe("Cloning into 'notes'...\n")
    expect(await run("cd notes && ls && git log --oneline | wc -l")).toBe("README.md\nsecond.md\n2\n")
    await run("cd notes && echo third > third.md && git add . && git commit -q -m Third && git push")
    expect(git("-C", "notes.git", "log", "-1", "--format=%s", "main").trim()).toBe("Third")
    git("-C", "work", "pull", "-q", "origin", "main")
    git(
      "-C",
      "work",
      "-c",
      "user.name=Bob",
      "-c",
      "user.email=b@example.com",
      "commit",
      "-q",
      "--allow-empty",
      "-m",
      "Fourth",
    )
    git("-C", "work", "push", "-q", "origin", "HEAD:main")
    expect(await run("cd notes && git pull -q >/dev/null; git log -1 --oneline")).toContain("Fourth")
    expect(await run("cd notes && git status -s")).toBe("(no output)")
  })

  test("clones with a depth, sends a placeholder unchanged, and leaves no files after a failure", async () => {
    const { fetch, requests } = await newServer()
    const run = newShell(fetch, { TOKEN: "vault-token-0" })
    await run("git clone --depth 1 https://ada:$TOKEN@git.example.com/notes.git shallow")
    expect(await run("cd shallow && git log --oneline | wc -l")).toBe("1\n")
    const basic = `Basic ${Buffer.from("ada:vault-token-0").toString("base64")}`
    expect(new Set(requests.map(({ authorization }) => authorization))).toContain(basic)
    await run(
      'git -c http.extraHeader="Authorization: Bearer $TOKEN" clone https://git.example.com/notes.git by-header',
    )
    expect(requests.at(-1)?.authorization).toBe("Bearer vault-token-0")
    expect(await run("git clone https://elsewhere.example.com/notes.git; ls -d elsewhere notes")).toContain(
      "is not known",
    )
    expect(await run("ls")).toBe("by-header\nshallow\n")
  })
})

test("git leaves no partial clone of a history that is too large", async () => {
  const { root, git, fetch } = await newServer()
  writeFileSync(path.join(root, "work/large.bin"), randomBytes(1_200_000))
  git("-C", "work", "add", ".")
  git("-C", "work", "-c", "user.name=Ada", "-c", "user.email=a@example.com", "commit", "-q", "-m", "Large")
  git("-C", "work", "push", "-q", "origin", "HEAD:main")
  const run = newShell(fetch)
  expect(await run("git clone https://git.example.com/notes.git")).toContain("in one pack; use --depth 1")
  expect(await run("ls -a | wc -l")).toBe("2\n")
})

describe("patch in the shell", () => {
  test("applies and reverts a unified diff from a pipe or a file", async () => {
    const run = newShell()
    await run("printf '1\\n2\\n3\\n' > a; printf '1\\nzwei\\n3\\n' > b; diff -u a b > p; rm b")
    expect(await run("patch a < p; cat a")).toBe("patching file a\n1\nzwei\n3\n")
    expect(await run("patch -R -i p a; cat a")).toBe("patching file a\n1\n2\n3\n")
    expect(await run("printf 'x\\ny\\n' > a; patch a < p")).toContain("do not apply")
    expect(await run("patch < /dev/null")).toContain("Only garbage")
  })

  test("applies the output of git diff, including new and deleted files", async () => {
    const run = newShell()
    await run(`${BEGIN}; echo gone > gone; git add .; git commit -q -m Second`)
    await run("echo two >> a.txt; rm gone; mkdir -p d; echo new > d/n; git add .; git diff --cached > /home/intern/p")
    expect(await run("git reset -q --hard; git checkout -q -f main; patch -p1 < p; cat a.txt d/n; ls gone")).toMatch(
      /patching file a.txt\n.*one\ntwo\nnew\n.*gone/s,
    )
  })
})
