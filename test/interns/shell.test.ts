import { expect, test } from "vitest"
import { Disk } from "../../src/interns/embedded/disk.ts"
import { runShell } from "../../src/interns/embedded/shell.ts"
import type { ShellFetch } from "../../src/interns/embedded/shell-fetch.ts"
import { sqlStorage } from "../support/sql-storage.ts"

const text = (body: string) => new TextEncoder().encode(body)

async function run(command: string, fetch: ShellFetch = () => Promise.reject(new Error("no network"))) {
  const disk = new Disk(sqlStorage())
  return runShell(disk, { command, env: {}, signal: AbortSignal.timeout(20_000), fetch })
}

/** Redirects once, where that is wanted. */
const redirecting: ShellFetch = (url, { followRedirects = true, body } = {}) => {
  const answer = followRedirects
    ? { status: 200, body: text(`héllo ${typeof body === "string" ? body : ""}`) }
    : { status: 302, body: text("moved") }
  return Promise.resolve({ url, statusText: "", headers: { location: "/next" }, ...answer })
}

test("curl follows redirects with -L only, alone or among other letters", async () => {
  expect(await run("curl -s https://example.com/", redirecting)).toBe("moved")
  expect(await run("curl -s -o /dev/null -w '%{http_code}' https://example.com/", redirecting)).toContain("302")
  for (const flag of ["-L", "-sL", "-sSL", "-Ls", "--location"]) {
    expect(await run(`curl -s ${flag} https://example.com/`, redirecting)).toBe("héllo ")
  }
})

test("curl takes its body from a pipe and writes into the folder of the command", async () => {
  expect(await run("echo -n wörld | curl -sL -d @- https://example.com/", redirecting)).toBe("héllo wörld")
  expect(
    await run("mkdir -p a && cd a && curl -sL -o out https://example.com/ && cat /home/intern/a/out", redirecting),
  ).toBe("héllo ")
})

test("there is a /tmp, and what a command leaves there is gone with it", async () => {
  expect(await run("echo x > /tmp/a && cat /tmp/a && echo $TMPDIR")).toBe("x\n/tmp\n")
})

test("ordinary loops run to their end, and endless ones do not", async () => {
  expect(await run("n=0; while [ $n -lt 20000 ]; do n=$((n+1)); done; echo $n")).toBe("20000\n")
  expect(await run("while true; do :; done")).toContain("(exit code")
})

test("what the shell does not have or allow is said to its user, not to developers of its library", async () => {
  for (const name of ["tar", "sqlite3"]) {
    const said = await run(`${name} --version`)
    expect(said).toContain(`${name}: command not found: this shell has none.`)
    expect(said).not.toMatch(/browser|bundle|Exclude/)
  }
  expect(await run("f() { f; }; f")).toMatch(/recursion depth .* exceeded\. It is a limit of this shell/)
  expect(await run("while true; do :; done")).not.toContain("executionLimits")
})
