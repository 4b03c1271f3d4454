import { beforeEach, expect, test, vi } from "vitest"
import { recordGeneration } from "../../src/inference/record.ts"
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
const said = { messages: [{ role: "user", content: "Hi" }], output: { content: "Hello", reasoning: "" } }

function newDeps(toContent: () => string) {
  const settle = vi.fn((_generation: Generation, _content?: string) => Promise.resolve())
  const put = vi.fn((_id: string, _content: string) => Promise.resolve())
  const deps = { ledger: { settle }, exports: { toContent, put } } as unknown as Pick<Deps, "ledger" | "exports">
  return { settle, put, deps }
}

test("short content goes with the settlement, and nothing is written beside it", async () => {
  const { settle, put, deps } = newDeps(() => "x".repeat(MAX_SETTLED_CONTENT))
  await recordGeneration(deps, generation, () => said)
  expect(settle.mock.calls).toEqual([[generation, "x".repeat(MAX_SETTLED_CONTENT)]])
  expect(put).not.toHaveBeenCalled()
})

test("long content is saved beside the settlement, which does not wait for it", async () => {
  const { settle, put, deps } = newDeps(() => "x".repeat(MAX_SETTLED_CONTENT + 1))
  put.mockRejectedValue(new Error("The storage is away."))
  await recordGeneration(deps, generation, () => said)
  expect(settle.mock.calls).toEqual([[generation, undefined]])
  expect(put.mock.calls.map(([id]) => id)).toEqual([generation.id])
})

test("content of a call that the ledger does not take is saved, for the record that its alarm makes", async () => {
  const { settle, put, deps } = newDeps(() => "{}")
  settle.mockRejectedValue(new Error("The ledger is away."))
  await recordGeneration(deps, generation, () => said)
  expect(put.mock.calls).toEqual([[generation.id, "{}"]])
})

test("a call is charged although its content cannot be written down", async () => {
  const { settle, put, deps } = newDeps(() => {
    throw new TypeError("Converting circular structure to JSON")
  })
  await recordGeneration(deps, generation, () => said)
  expect(settle.mock.calls).toEqual([[generation, undefined]])
  expect(put).not.toHaveBeenCalled()
})

test("nothing is read of a call that no destination gets, or only without what was said", async () => {
  const { settle, deps } = newDeps(() => "{}")
  const text = vi.fn(() => said)
  await recordGeneration(deps, { ...generation, broadcast: { ...broadcast, hasContent: false } }, text)
  await recordGeneration({ ledger: deps.ledger }, generation, text)
  expect(text).not.toHaveBeenCalled()
  expect(settle.mock.calls.map(([, content]) => content)).toEqual([undefined, undefined])
})
