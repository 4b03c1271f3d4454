import { expect, test } from "vitest"
import { isContextError } from "../../src/formats/context-error.ts"
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

test.each([
  "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens",
  "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
  "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]",
  "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
  "Please reduce the length of the messages or completion.",
  "the request exceeds the available context size, try increasing it",
])("a conversation is too long: %s", (message) => {
  expect(isContextError(message)).toBe(true)
})

test.each(["max_tokens is too large: 5000", "The prompt must not be empty.", "tokens per minute (TPM): Limit 6000"])(
  "a conversation is not too long: %s",
  (message) => {
    expect(isContextError(message)).toBe(false)
  },
)
