import { beforeEach, expect, test, vi } from "vitest"
import { recordGeneration } from "../../src/inference/accounting/record.ts"
import type { Deps } from "../../src/inference/deps.ts"
import type { Generation } from "../../src/ledger/generation.ts"
import { MAX_SETTLED_CONTENT } from "../../src/observability/call-content.ts"
import { ANSWERED } from "../observability/generation.ts"

beforeEach(() => {
  vi.spyOn(console, "error").mockImplementation(() => {})
  return () => vi.restoreAllMocks()
})

const broadcast = { region: "global", user: null, trace: null, hasContent: true }
const generation: Generation = { ...ANSWERED, broadcast }
const texts = { messages: [{ role: "user", content: "Hi" }], output: { content: "Hello", reasoning: "" } }

function newDeps(toContent: () => string) {
  const settle = vi.fn((_generation: Generation, _content?: string) => Promise.resolve())
  const put = vi.fn((_id: string, _content: string) => Promise.resolve())
  const deps = { ledger: { settle }, exports: { toContent, put } } as unknown as Pick<Deps, "ledger" | "exports">
  return { settle, put, deps }
}

test("content up to the size limit is part of the settlement and not saved separately", async () => {
  const { settle, put, deps } = newDeps(() => "x".repeat(MAX_SETTLED_CONTENT))
  await recordGeneration(deps, generation, () => texts)
  expect(settle.mock.calls).toEqual([[generation, "x".repeat(MAX_SETTLED_CONTENT)]])
  expect(put).not.toHaveBeenCalled()
})

test("content above the size limit is saved separately, and the settlement does not wait for it", async () => {
  const { settle, put, deps } = newDeps(() => "x".repeat(MAX_SETTLED_CONTENT + 1))
  put.mockRejectedValue(new Error("The storage is away."))
  await recordGeneration(deps, generation, () => texts)
  expect(settle.mock.calls).toEqual([[generation, undefined]])
  expect(put.mock.calls.map(([id]) => id)).toEqual([generation.id])
})

test("content is saved when the settlement fails, for the generation that the ledger's alarm writes", async () => {
  const { settle, put, deps } = newDeps(() => "{}")
  settle.mockRejectedValue(new Error("The ledger is away."))
  await recordGeneration(deps, generation, () => texts)
  expect(put.mock.calls).toEqual([[generation.id, "{}"]])
})

test("a call is charged although serializing its content fails", async () => {
  const { settle, put, deps } = newDeps(() => {
    throw new TypeError("Converting circular structure to JSON")
  })
  await recordGeneration(deps, generation, () => texts)
  expect(settle.mock.calls).toEqual([[generation, undefined]])
  expect(put).not.toHaveBeenCalled()
})

test("content is not read when no destination receives the call, or none with content", async () => {
  const { settle, deps } = newDeps(() => "{}")
  const text = vi.fn(() => texts)
  await recordGeneration(deps, { ...generation, broadcast: { ...broadcast, hasContent: false } }, text)
  await recordGeneration({ ledger: deps.ledger }, generation, text)
  expect(text).not.toHaveBeenCalled()
  expect(settle.mock.calls.map(([, content]) => content)).toEqual([undefined, undefined])
})
