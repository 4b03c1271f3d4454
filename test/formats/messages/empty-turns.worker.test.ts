import { describe, expect, test } from "vitest"
import { toUpstreamTurns } from "../../../src/formats/messages/messages.ts"
import { MessagesRequest } from "../../../src/formats/messages/schemas.ts"
import { toMessagesBody } from "../../../src/formats/messages/upstream/to-body.ts"
import { encodeBlob } from "../../../src/formats/responses/opaque-blob.ts"
import { ChatRequest } from "../../../src/formats/schemas.ts"
import { mockProvider } from "../../support/mock-provider.ts"
import { newWorkspace, expectJson } from "../../support/world.ts"
import type { Json } from "./recorded.ts"

/** Providers of the Messages format reject a turn without a block; some turns hold only foreign content. */
const FOREIGN = encodeBlob({ type: "reasoning.server_tool_call", tool_name: "datetime", tool_call_id: "c1" })
const outgoing = { upstreamId: "claude-sonnet-4-5", maxCompletionTokens: undefined, pseudonym: undefined }
const user = (text: string) => ({ role: "user", content: [{ type: "text", text }] })

describe("empty turns translated from chat", () => {
  const turnsOf = (messages: Json[]) =>
    toMessagesBody(ChatRequest.parse({ model: "m", messages }), outgoing)["messages"]

  test.each([
    ["only a foreign thinking block", { reasoning_details: [{ type: "reasoning.text", text: "x", format: "other" }] }],
    ["nothing", { content: "" }],
    ["no parts", { content: [] }],
    ["blanks", { content: " \n" }],
  ])("an assistant turn of %s is dropped and its neighbours are merged", (_, answer) => {
    const messages = [
      { role: "user", content: "Hi" },
      { role: "assistant", ...answer },
      { role: "user", content: "?" },
    ]
    expect(turnsOf(messages)).toEqual([{ role: "user", content: [...user("Hi").content, ...user("?").content] }])
  })

  test.each([{ content: "" }, { content: [] }, { content: [{ type: "text", text: "" }] }])(
    "messages without any content are rejected: %j",
    (fields) => {
      expect(() => turnsOf([{ role: "user", ...fields }])).toThrow(/^messages: must not be empty/)
    },
  )

  test("the error of messages without any content reaches the client as 400", async () => {
    const { as } = await newWorkspace()
    const { upstreamCalls, stop } = mockProvider(() => Response.json({}))
    const body = { model: "acme/opus-1", messages: [{ role: "user", content: "" }] }
    const { error } = await expectJson<{ error: { message: string } }>(400, as.post("/chat/completions", body))
    stop()
    expect(error.message).toContain("messages")
    expect(upstreamCalls).toEqual([])
  })
})

describe("empty turns of a Messages request", () => {
  const turnsOf = (messages: Json[]) =>
    toUpstreamTurns(MessagesRequest.parse({ model: "m", max_tokens: 9, messages }).messages)
  const answer = (...content: Json[]) => ({ role: "assistant", content })
  const sealed = { type: "redacted_thinking", data: FOREIGN }
  const foreign = { type: "thinking", thinking: "x", signature: FOREIGN }

  test("drop content of other providers and keep the provider's content", () => {
    const native = [
      { type: "thinking", thinking: "x", signature: "s==" },
      { type: "redacted_thinking", data: "sealed==" },
      { type: "text", text: "So." },
    ]
    expect(turnsOf([user("Hi"), answer(sealed, ...native, foreign)])).toEqual([user("Hi"), answer(...native)])
  })

  test("are removed and their neighbours merged when nothing is left", () => {
    const messages = [user("Hi"), answer(sealed, foreign), { role: "user", content: "?" }, answer(), user("!")]
    const content = [user("Hi"), user("?"), user("!")].flatMap((turn) => turn.content)
    expect(turnsOf(messages)).toEqual([{ role: "user", content }])
  })

  test("do not merge turns between which nothing was dropped", () => {
    const messages = [user("Hi"), user("?"), answer({ type: "text", text: "So." })]
    expect(turnsOf(messages)).toEqual(messages)
  })

  test("reject messages of which nothing is left", () => {
    expect(() => turnsOf([answer(sealed)])).toThrow(/^messages: must not be empty/)
  })
})
