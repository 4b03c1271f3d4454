import { describe, expect, test } from "vitest"
import { chatTranslator } from "../../src/formats/messages/upstream/to-chat-stream.ts"
import { asResponses } from "../../src/formats/readers/as-responses.ts"
import { chatReader } from "../../src/formats/readers/chat.ts"
import { messagesReader } from "../../src/formats/readers/messages.ts"
import { responsesReader } from "../../src/formats/readers/responses.ts"
import { ChatRequest } from "../../src/formats/schemas.ts"
import { toFrame } from "../../src/formats/sse/frames.ts"

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

describe("a frame without any part of a response", () => {
  test.each([
    [{ detail: "Busy." }, { message: "Busy.", status: null }],
    [{ detail: [{ loc: ["body", "seed"], msg: "wrong" }] }, { message: "seed: wrong", status: null }],
    [{ Message: "Busy." }, { message: "Busy.", status: null }],
    [
      { code: 500, msg: "Busy." },
      { message: "Busy.", status: 500 },
    ],
    [{ statusCode: 503 }, { status: 503 }],
    [{ error_code: 17, error_msg: "Busy." }, { message: "Busy." }],
    [
      { error: "Busy.", error_type: "overloaded" },
      { message: "Busy.", status: 529 },
    ],
    [
      { error: true, message: "Busy.", code: 429 },
      { message: "Busy.", status: 429 },
    ],
    [{ throttlingException: { message: "Busy." } }, { message: "Busy.", code: "throttlingException" }],
    [{ success: false }, {}],
    [{ type: "error", code: "server_error" }, { status: 500 }],
    [{ choices: [], x_groq: { id: "r", error: "Busy." } }, { message: "Busy." }],
  ])("is an error with a message, an error code or the name of an error: %j", (frame, expected) => {
    expect(chatReader.errorIn(frame)).toMatchObject(expected)
  })

  test.each([
    {},
    { type: "ping" },
    { id: "r", object: "chat.completion.chunk", error: "" },
    { code: 0, msg: "ok" },
    { choices: [], prompt_filter_results: [] },
  ])("is none otherwise: %j", (frame) => {
    expect(chatReader.errorIn(frame)).toBeNull()
  })

  test("of a native Responses or Messages stream is an error as well, and its own events are not", () => {
    for (const reader of [responsesReader, messagesReader]) {
      expect(reader.errorIn({ detail: "Busy." })).toMatchObject({ message: "Busy." })
      expect(reader.errorIn({ type: "response.output_text.delta", delta: "error", message: "Hi" })).toBeNull()
    }
  })
})

const REQUEST = ChatRequest.parse({ model: "m", messages: [{ role: "user", content: "Hi" }] })

test("an error between the events of a provider that is translated ends the response", () => {
  const failed = expect.objectContaining({ error: expect.objectContaining({ message: "Busy." }) })
  const translators = [
    asResponses(REQUEST, { upstreamId: "m", maxCompletionTokens: undefined, pseudonym: undefined }).translate?.stream(),
    chatTranslator(),
  ]
  for (const translate of translators) {
    expect(translate?.(toFrame({ detail: "Busy." }))).toEqual([failed])
  }
})

test("the event name of an error ends a response that is translated, whatever its data is", () => {
  const translators = [
    asResponses(REQUEST, { upstreamId: "m", maxCompletionTokens: undefined, pseudonym: undefined }).translate?.stream(),
    chatTranslator(),
  ]
  for (const translate of translators) {
    const [chunk] = translate?.(new TextEncoder().encode("event: error\ndata: {}\n\n")) ?? []
    expect(chunk).toMatchObject({ error: { message: "The provider reported an error." } })
  }
})
