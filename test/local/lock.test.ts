import { type ChildProcessByStdio, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import type { Readable, Writable } from "node:stream"
import { describe, expect, onTestFinished, test } from "vitest"
import { lock } from "../../src/local/lock.ts"
import { root } from "../../src/local/paths.ts"
import { removeFolder } from "../support/remove-folder.ts"

function newState(): { state: string; file: string } {
  const folder = mkdtempSync(path.join(tmpdir(), "gateway-lock-"))
  onTestFinished(() => removeFolder(folder))
  const state = path.join(folder, "gateway")
  return { state, file: `${state}.lock` }
}

/** Locks at the first input, prints the result, and keeps the lock until the input ends. */
const CONTENDER = `
  import { once } from "node:events"
  import { lock } from ${JSON.stringify(path.join(root, "src/local/lock.ts"))}
  console.log("ready")
  await once(process.stdin, "data")
  console.log("reason" in (await lock(process.argv[1])) ? "refused" : "locked")
  process.stdin.on("end", () => process.exit(0))
`

async function newContender(state: string): Promise<ChildProcessByStdio<Writable, Readable, null>> {
  const args = ["--no-warnings", "--input-type=module", "-e", CONTENDER, state]
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] })
  await once(child.stdout, "data")
  return child
}

/** A process with the name of the runtime that a killed gateway left. */
function leaveRuntime(): number {
  const child = spawn(process.execPath, ["-e", "setInterval(() => undefined, 1_000)", "workerd"], { stdio: "ignore" })
  return child.pid ?? 0
}

describe("the lock of a state folder", () => {
  test("is held by one of the processes that start at the same moment after a kill", async () => {
    const { state, file } = newState()
    writeFileSync(file, JSON.stringify({ pid: 999_999_999, runtimes: [leaveRuntime()] }))
    const contenders = await Promise.all(Array.from({ length: 4 }, () => newContender(state)))
    for (const { stdin } of contenders) stdin.write("start")
    const results = await Promise.all(contenders.map(({ stdout }) => once(stdout, "data")))
    for (const { stdin } of contenders) stdin.end()
    const printed = results.map(([text]) => String(text).trim())
    expect(printed.toSorted()).toEqual(["locked", "refused", "refused", "refused"])
  })

  test("of another container is respected while that touches it, although the process ids are equal", async () => {
    const { state, file } = newState()
    writeFileSync(file, JSON.stringify({ pid: process.pid, runtimes: [], space: "another container" }))
    let at = Date.now()
    const touching = setInterval(() => utimesSync(file, new Date(), new Date((at += 1_000))), 20)
    expect(await lock(state)).toEqual({ reason: expect.stringContaining("another container") })
    clearInterval(touching)
    expect(await lock(state, { silentMs: 200 })).not.toHaveProperty("reason")
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ pid: process.pid, runtimes: [] })
  })

  test("of an earlier release whose process has ended is taken over", async () => {
    const { state, file } = newState()
    writeFileSync(file, JSON.stringify({ pid: 999_999_999, runtimes: [] }))
    expect(await lock(state)).not.toHaveProperty("reason")
  })
})
