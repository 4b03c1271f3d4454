import { expect, test } from "vitest"
import { toMessagesError } from "../../src/formats/messages/errors.ts"

const OPENAI = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."

test("Claude Code recognizes that the conversation is too long for a model of any provider", () => {
  expect(toMessagesError(400, OPENAI).error.message).toBe(`prompt is too long: ${OPENAI}`)
  expect(toMessagesError(413, "Too many input tokens").error.message).toBe("prompt is too long: Too many input tokens")
})

test.each([
  [400, "prompt is too long: 209601 tokens > 200000 maximum"],
  [400, "messages: must not be empty."],
  [500, OPENAI],
])("other errors stay: %i %s", (status, message) => {
  expect(toMessagesError(status, message).error.message).toBe(message)
})
