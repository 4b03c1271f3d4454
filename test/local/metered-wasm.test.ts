import { expect, test } from "vitest"
import { meterWasm } from "../../src/dev/build/metered-wasm.ts"

const section = (id: number, ...bytes: number[]) => [id, bytes.length, ...bytes]
const body = (...bytes: number[]) => [bytes.length, ...bytes]

const HEADER = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00]

/** A module with one page of memory, and the function `f` with a number parameter. */
const moduleOf = (...code: number[]) =>
  Uint8Array.from([
    ...HEADER,
    ...section(1, 1, 0x60, 1, 0x7f, 0),
    ...section(3, 1, 0),
    ...section(5, 1, 0, 1),
    ...section(6, 1, 0x7f, 0, 0x41, 0, 0x0b),
    ...section(7, 1, 1, 0x66, 0, 0),
    ...section(10, 1, ...body(0, ...code, 0x0b)),
  ])

function start(...code: number[]) {
  const module = new WebAssembly.Module(meterWasm(moduleOf(...code), "steps"))
  return new WebAssembly.Instance(module).exports as { f: (count: number) => void; steps: WebAssembly.Global }
}

/** A loop that counts the parameter down to 0. */
const COUNT_DOWN = [0x03, 0x40, 0x20, 0, 0x41, 1, 0x6b, 0x22, 0, 0x0d, 0, 0x0b]
const FOR_EVER = [0x03, 0x40, 0x0c, 0, 0x0b]
/** memory.fill from 0, with the length of the parameter. */
const FILL = [0x41, 0, 0x41, 0, 0x20, 0, 0xfc, 0x0b, 0]

test("an iteration of a loop and a call take a step each", () => {
  const { f, steps } = start(...COUNT_DOWN)
  steps.value = 1_000
  f(10)
  expect(steps.value).toBe(1_000 - 11)
})

test("an endless loop traps below zero, and the module stays usable", () => {
  const { f, steps } = start(...FOR_EVER)
  steps.value = 1_000
  expect(() => f(0)).toThrow(WebAssembly.RuntimeError)
  expect(steps.value).toBe(-1)
  expect(() => f(0)).toThrow(WebAssembly.RuntimeError)
})

test("copied bytes take a step per 32", () => {
  const { f, steps } = start(...FILL)
  steps.value = 100
  f(3_200 - 32)
  expect(steps.value).toBe(0)
  steps.value = 100
  expect(() => f(3_200)).toThrow(WebAssembly.RuntimeError)
})

test("memory.grow and unknown instructions are rejected", () => {
  expect(() => meterWasm(moduleOf(0x20, 0, 0x40, 0, 0x1a), "steps")).toThrow("not metered: 40.")
  expect(() => meterWasm(moduleOf(0xfd, 0, 0), "steps")).toThrow("not metered: fd.")
})
