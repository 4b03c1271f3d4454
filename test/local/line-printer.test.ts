import { setImmediate } from "node:timers/promises"
import { expect, test } from "vitest"
import { newLinePrinter } from "../../src/local/line-printer.ts"

test("lines of one turn of the event loop are written together, in order, and none twice", async () => {
  const written: string[] = []
  const print = newLinePrinter({ write: (text) => written.push(text) })
  for (const line of ["one", "two", "three"]) print(line)
  expect(written).toEqual([])
  await setImmediate()
  expect(written).toEqual(["one\ntwo\nthree\n"])
  print("four")
  await setImmediate()
  await setImmediate()
  expect(written).toEqual(["one\ntwo\nthree\n", "four\n"])
})

test("lines that are not written when the process exits are written then", () => {
  const written: string[] = []
  const before = new Set(process.listeners("exit"))
  const print = newLinePrinter({ write: (text) => written.push(text) })
  print("last")
  for (const listener of process.listeners("exit")) if (!before.has(listener)) listener(0)
  expect(written).toEqual(["last\n"])
})
