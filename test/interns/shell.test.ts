import { expect, test } from "vitest"
import { Disk } from "../../src/interns/embedded/shell/disk.ts"
import { runShell } from "../../src/interns/embedded/shell/shell.ts"
import type { ShellFetch } from "../../src/interns/embedded/shell/shell-fetch.ts"
import { sqlStorage } from "../support/sql-storage.ts"

const text = (body: string) => new TextEncoder().encode(body)

async function run(command: string, fetch: ShellFetch = () => Promise.reject(new Error("no network"))) {
  const disk = new Disk(sqlStorage())
  return runShell(disk, { command, env: {}, signal: AbortSignal.timeout(20_000), fetch })
}

/** Redirects once unless followRedirects is set. */
const redirecting: ShellFetch = (url, { followRedirects = true, body } = {}) => {
  const answer = followRedirects
    ? { status: 200, body: text(`héllo ${typeof body === "string" ? body : ""}`) }
    : { status: 302, body: text("moved") }
  return Promise.resolve({ url, statusText: "", headers: { location: "/next" }, ...answer })
}

test("curl follows redirects only with -L, alone or combined with other flags", async () => {
  expect(await run("curl -s https://example.com/", redirecting)).toBe("moved")
  expect(await run("curl -s -o /dev/null -w '%{http_code}' https://example.com/", redirecting)).toContain("302")
  for (const flag of ["-L", "-sL", "-sSL", "-Ls", "--location"]) {
    expect(await run(`curl -s ${flag} https://example.com/`, redirecting)).toBe("héllo ")
  }
})

test("curl reads its body from a pipe and writes into the current folder", async () => {
  expect(await run("echo -n wörld | curl -sL -d @- https://example.com/", redirecting)).toBe("héllo wörld")
  expect(
    await run("mkdir -p a && cd a && curl -sL -o out https://example.com/ && cat /home/intern/a/out", redirecting),
  ).toBe("héllo ")
})

test("/tmp exists during a command", async () => {
  expect(await run("echo x > /tmp/a && cat /tmp/a && echo $TMPDIR")).toBe("x\n/tmp\n")
})

test("finite loops complete, and endless ones are stopped", async () => {
  expect(await run("n=0; while [ $n -lt 20000 ]; do n=$((n+1)); done; echo $n")).toBe("20000\n")
  expect(await run("while true; do :; done")).toContain("(exit code")
})

test("errors about missing commands and limits name the shell, not its library", async () => {
  for (const name of ["tar", "sqlite3"]) {
    const output = await run(`${name} --version`)
    expect(output).toContain(`${name}: command not found: this shell has none.`)
    expect(output).not.toMatch(/browser|bundle|Exclude/)
  }
  expect(await run("f() { f; }; f")).toMatch(/recursion depth .* exceeded\. It is a limit of this shell/)
  expect(await run("while true; do :; done")).not.toContain("executionLimits")
})
