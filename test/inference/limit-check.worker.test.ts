import { expect, test } from "vitest"
import { newKey, newWorkspace, expectJson } from "../support/world.ts"

type Failure = { error: { message: string; metadata?: { reason?: string } } }

/** A file that is rejected as soon as it is read. */
const content = [
  { type: "text", text: "Read" },
  { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,aGVsbG8=" } },
]
const body = (model: string) => ({ model, messages: [{ role: "user", content }], plugins: [{ id: "file-parser" }] })

test("files are not read for a key without remaining limit", async () => {
  const workspace = await newWorkspace()
  const withoutLimit = await newKey(workspace, { limit: 0 })
  const { error } = await expectJson<Failure>(402, withoutLimit.as.post("/chat/completions", body("sim/echo")))
  expect(error.metadata?.reason).toBe("key_limit")
})

test("files are read when the call can be paid for or is free", async () => {
  const workspace = await newWorkspace()
  const withoutLimit = await newKey(workspace, { limit: 0 })
  for (const answer of [
    workspace.as.post("/chat/completions", body("sim/echo")),
    withoutLimit.as.post("/chat/completions", body("sim/echo:free")),
  ]) {
    const { error } = await expectJson<Failure>(400, answer)
    expect(error.message).toMatch(/it is not a PDF/)
  }
})

test("a room check holds nothing and counts open holds", async () => {
  const { ledger } = await newWorkspace()
  const limits = [{ scope: "key:x", limitNano: 0, interval: null, includeByok: false }]
  expect(await ledger.checkLimits([], true)).toMatchObject({ ok: true })
  expect(await ledger.checkLimits(limits, true)).toMatchObject({ ok: false, scope: "key:x", leastNano: 1 })
})
