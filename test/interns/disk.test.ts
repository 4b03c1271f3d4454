import * as fc from "fast-check"
import { InMemoryFs } from "just-bash/browser"
import { expect, test } from "vitest"
import { Disk, shellFiles } from "../../src/interns/embedded/shell/disk.ts"
import { HOME, resolvePath } from "../../src/interns/embedded/home.ts"
import { runShell } from "../../src/interns/embedded/shell/shell.ts"
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
      const before = disk.snapshot()
      const fs = new InMemoryFs(shellFiles(before))
      for (const [path, text] of written) expect(await fs.readFile(path)).toBe(text)
      expect(await disk.takeOver(fs, before)).toEqual([])
      expect(disk.paths()).toEqual([...written.keys()].toSorted())
    }),
  )
})

type Change = { path: string; text: string | undefined }
const changes = fc.array(
  fc.record({ path: fc.constantFrom("a", "b", "c", "d"), text: fc.option(fc.string(), { nil: undefined }) }),
  { maxLength: 6 },
)
const apply = (files: Map<string, string>, { path, text }: Change) =>
  text === undefined ? files.delete(path) : files.set(path, text)

test("a command saves its own changes and keeps those that others made while it ran", async () => {
  await fc.assert(
    fc.asyncProperty(changes, changes, changes, async (initial, own, others) => {
      const disk = new Disk(sqlStorage())
      const change = ({ path, text }: Change) =>
        text === undefined ? disk.remove(`${HOME}/${path}`) : void disk.write(`${HOME}/${path}`, bytes(text))
      const start = new Map<string, string>()
      for (const one of initial) {
        change(one)
        apply(start, one)
      }
      const before = disk.snapshot()
      const fs = new InMemoryFs(shellFiles(before))
      const seen = new Map(start)
      for (const one of own) {
        apply(seen, one)
        const path = `${HOME}/${one.path}`
        await (one.text === undefined ? fs.rm(path, { force: true }) : fs.writeFile(path, one.text))
      }
      const expected = new Map(start)
      for (const one of others) {
        change(one)
        apply(expected, one)
      }
      for (const path of ["a", "b", "c", "d"]) {
        if (seen.get(path) !== start.get(path)) apply(expected, { path, text: seen.get(path) })
      }
      expect(await disk.takeOver(fs, before)).toEqual([])
      const saved = disk.paths().map((path) => [path.slice(HOME.length + 1), new TextDecoder().decode(disk.read(path))])
      expect(saved).toEqual([...expected].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    }),
  )
})

test("a command that only changes the mode of a file saves it", async () => {
  const disk = new Disk(sqlStorage())
  disk.write(`${HOME}/run.sh`, bytes("echo ran"))
  await runOn(disk, "chmod +x run.sh")
  expect(await runOn(disk, "./run.sh")).toBe("ran\n")
})

test("two commands that run at the same time keep each other's files", async () => {
  const disk = new Disk(sqlStorage())
  disk.write(`${HOME}/shared`, bytes("old"))
  const upload = () => {
    disk.write(`${HOME}/uploaded`, bytes("by a client"))
    disk.write(`${HOME}/shared`, bytes("new"))
    return Promise.reject(new Error("no network"))
  }
  const slow = { command: "curl -s https://example.com/; echo 1 > slow", env: {}, signal: AbortSignal.timeout(20_000) }
  await Promise.all([runShell(disk, { ...slow, fetch: upload }), runOn(disk, "echo 2 > fast")])
  expect(disk.paths()).toEqual(["fast", "shared", "slow", "uploaded"].map((name) => `${HOME}/${name}`))
  expect(new TextDecoder().decode(disk.read(`${HOME}/shared`))).toBe("new")
})
