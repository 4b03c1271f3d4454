import * as fc from "fast-check"
import { InMemoryFs } from "just-bash/browser"
import { expect, test } from "vitest"
import { Disk } from "../../src/interns/embedded/disk.ts"
import { HOME, resolvePath } from "../../src/interns/embedded/home.ts"
import { runShell } from "../../src/interns/embedded/shell.ts"
import { sqlStorage } from "../support/sql-storage.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

function runOn(disk: Disk, command: string): Promise<string> {
  const fetch = () => Promise.reject(new Error("no network"))
  return runShell(disk, { command, env: {}, signal: AbortSignal.timeout(20_000), fetch })
}

test("a file cannot be written at the path of a folder or below a file", () => {
  const disk = new Disk(sqlStorage())
  expect(disk.write(`${HOME}/a/b`, bytes("1"))).toBeUndefined()
  expect(disk.write(`${HOME}/a`, bytes("2"))).toBe(`${HOME}/a: cannot be written, because it is a folder.`)
  expect(disk.write(`${HOME}/a/b/c`, bytes("3"))).toBe(
    `${HOME}/a/b/c: cannot be written, because ${HOME}/a/b is a file.`,
  )
  expect(disk.write(`${HOME}/a0`, bytes("4"))).toBeUndefined()
  expect(disk.write(`${HOME}/a/b`, bytes("5"))).toBeUndefined()
  expect(disk.paths()).toEqual([`${HOME}/a/b`, `${HOME}/a0`])
})

test("a command can replace a file with a folder and a folder with a file", async () => {
  const disk = new Disk(sqlStorage())
  await runOn(disk, "echo 1 > a; mkdir b; echo 2 > b/c")
  await runOn(disk, "rm a; mkdir a; echo 3 > a/d; rm -r b; echo 4 > b")
  expect(disk.paths()).toEqual([`${HOME}/a/d`, `${HOME}/b`])
})

test("a path with a null byte from an earlier release does not break the shell, and a command removes it", async () => {
  expect(resolvePath("a\0b")).toBeUndefined()
  const disk = new Disk(sqlStorage())
  disk.write(`${HOME}/\0a`, bytes("1"))
  expect(await runOn(disk, "echo works")).toBe("works\n")
  expect(disk.paths()).toEqual([])
})

const segment = fc.oneof(fc.constantFrom("a", "b", "c", "..", "", "é", "__proto__"), fc.string({ maxLength: 6 }))
const paths = fc.array(
  fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/")),
  { maxLength: 12 },
)

test("the shell reads every written file unchanged", async () => {
  await fc.assert(
    fc.asyncProperty(paths, async (names) => {
      const disk = new Disk(sqlStorage())
      const written = new Map<string, string>()
      for (const [index, name] of names.entries()) {
        const path = resolvePath(name)
        if (path === undefined || path === HOME) continue
        if (disk.write(path, bytes(String(index))) === undefined) written.set(path, String(index))
      }
      const fs = new InMemoryFs(disk.files())
      for (const [path, text] of written) expect(await fs.readFile(path)).toBe(text)
      expect(await disk.takeOver(fs)).toEqual([])
      expect(disk.paths()).toEqual([...written.keys()].toSorted())
    }),
  )
})
