import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterEach, expect, test } from "vitest"
import { folderIn } from "../../src/daemon/files/folder.ts"
import { storeInitialFiles } from "../../src/daemon/files/initial-files.ts"
import { FakeGateway, INTERN, JOIN_TOKEN } from "./gateway.ts"
import { runDaemon } from "./run-daemon.ts"
import { removeFolder } from "../support/remove-folder.ts"

const ending: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end()
})

const base64url = (text: string) => Buffer.from(text).toString("base64url")

async function begin() {
  const gateway = await new FakeGateway().open()
  ending.push(() => gateway.close())
  gateway.files = [
    { path: "AGENTS.md", content: base64url("Not written: it comes with the instructions."), mode: 0o644 },
    { path: "run.sh", content: base64url("#!/bin/sh\n"), mode: 0o755 },
    { path: "skills/release/SKILL.md", content: base64url("Read the log first."), mode: 0o644 },
  ]
  const root = mkdtempSync(path.join(tmpdir(), "gateway-files-"))
  ending.push(() => removeFolder(root))
  const folder = folderIn(path.join(root, "intern"))
  const logged: string[] = []
  const source = {
    url: `http://127.0.0.1:${gateway.port}/api/v1/interns/${INTERN}/daemon/files`,
    joinToken: JOIN_TOKEN,
    owner: undefined,
    log: (text: string) => logged.push(text),
  }
  return { gateway, root, folder, source, logged }
}

test("a daemon writes the files of its intern once, before the agent first starts", async () => {
  const { gateway, root } = await begin()
  const first = runDaemon(gateway.port, { dir: root })
  ending.push(() => first.stop())
  await gateway.result("session/new")
  const work = path.join(first.dir, "work")
  expect(readFileSync(path.join(work, "skills/release/SKILL.md"), "utf8")).toBe("Read the log first.")
  expect(statSync(path.join(work, "run.sh")).mode & 0o777).toBe(0o755)
  expect(readFileSync(path.join(work, "AGENTS.md"), "utf8")).toBe("Be brief.\n")
  await first.stop()
  rmSync(path.join(work, "run.sh"))
  const second = runDaemon(gateway.port, { dir: root })
  ending.push(() => second.stop())
  await gateway.notified("_intern/ready", 1)
  expect(existsSync(path.join(work, "run.sh"))).toBe(false)
  expect(gateway.fileReads).toBe(3)
})

test("a folder is created completely or not at all", async () => {
  const { gateway, folder, source } = await begin()
  gateway.status = 401
  await expect(storeInitialFiles(folder, source)).rejects.toThrow("401")
  expect(readdirSync(folder.dir)).toEqual([])
  gateway.status = 101
  await storeInitialFiles(folder, source)
  expect(readdirSync(folder.work).toSorted()).toEqual(["run.sh", "skills"])
})

test("a path outside the folder is skipped, and the other files are written", async () => {
  const { gateway, root, folder, source, logged } = await begin()
  gateway.files.unshift({ path: "../../outside", content: base64url("x"), mode: 0o644 })
  gateway.files.unshift({ path: "run.sh/below", content: base64url("x"), mode: 0o644 })
  await storeInitialFiles(folder, source)
  expect(readdirSync(root)).toEqual(["intern"])
  expect(logged.join("\n")).toContain("../../outside: is not below")
  expect(existsSync(path.join(folder.work, "skills/release/SKILL.md"))).toBe(true)
})

test.skipIf(process.getuid?.() !== 0)(
  "a folder of the agent's user gets no files, since its links could lead elsewhere",
  async () => {
    const { folder, source } = await begin()
    await storeInitialFiles(folder, { ...source, owner: 12_345 })
    expect(statSync(path.join(folder.work, "skills/release/SKILL.md")).uid).toBe(12_345)
    removeFolder(folder.work)
    mkdirSync(folder.dir, { recursive: true })
    chownSync(folder.dir, 12_345, 12_345)
    await storeInitialFiles(folder, { ...source, owner: 12_345 })
    expect(existsSync(folder.work)).toBe(false)
  },
)
