import { describe, expect, test } from "vitest"
import { chatReader } from "../../src/formats/readers/chat.ts"

const FAILED = { index: 0, finish_reason: "error", error: { code: 429, message: "Slow down." } }

describe("a choice that failed", () => {
  test.each([
    ["in a document", { ...FAILED, message: { role: "assistant", content: "" } }],
    ["in a stream", { ...FAILED, delta: { content: "", reasoning_details: [] } }],
    ["without a message", FAILED],
  ])("%s without content is an error of the provider, so that the call fails over", (_, choice) => {
    const error = { message: "Slow down.", code: "429", status: 429 }
    expect(chatReader.errorIn({ choices: [choice] })).toEqual(error)
  })

  test("after content, or beside another choice, keeps the content", () => {
    expect(chatReader.errorIn({ choices: [{ ...FAILED, message: { content: "So far" } }] })).toBeNull()
    const other = { index: 1, finish_reason: "stop", message: { content: "Done" } }
    expect(chatReader.errorIn({ choices: [FAILED, other] })).toBeNull()
  })
})
