import { describe, expect, test } from "vitest"
import { toOwnTurns } from "../../../src/formats/messages/messages.ts"
import { MessagesRequest } from "../../../src/formats/messages/schemas.ts"
import { toMessagesBody } from "../../../src/formats/messages/upstream/to-body.ts"
import { encodeBlob } from "../../../src/formats/responses/opaque-blob.ts"
import { ChatRequest } from "../../../src/formats/schemas.ts"
import { mockProvider } from "../../support/played.ts"
import { newWorkspace, expectJson } from "../../support/world.ts"
import type { Json } from "./recorded.ts"

/** Providers of the Messages wire refuse a turn without a block, and some turns are made of what is not theirs. */
const CARRIED = encodeBlob({ type: "reasoning.server_tool_call", tool_name: "datetime", tool_call_id: "c1" })
const outgoing = { upstreamId: "claude-sonnet-4-5", maxCompletionTokens: undefined, pseudonym: undefined }
const user = (text: string) => ({ role: "user", content: [{ type: "text", text }] })

describe("from the chat wire", () => {
  const turnsOf = (messages: Json[]) =>
    toMessagesBody(ChatRequest.parse({ model: "m", messages }), outgoing)["messages"]

  test.each([
    ["a foreign thought alone", { reasoning_details: [{ type: "reasoning.text", text: "x", format: "other" }] }],
    ["nothing", { content: "" }],
    ["no parts", { content: [] }],
    ["blanks", { content: " \n" }],
  ])("an answer of %s is left out, and its neighbours are one turn", (_, answer) => {
    const messages = [
      { role: "user", content: "Hi" },
      { role: "assistant", ...answer },
      { role: "user", content: "?" },
    ]
    expect(turnsOf(messages)).toEqual([{ role: "user", content: [...user("Hi").content, ...user("?").content] }])
  })

  test.each([{ content: "" }, { content: [] }, { content: [{ type: "text", text: "" }] }])(
    "where nothing is left, the messages are at fault: %j",
    (said) => {
      expect(() => turnsOf([{ role: "user", ...said }])).toThrow(/^messages: must not be empty/)
    },
  )

  test("which the caller is told", async () => {
    const { as } = await newWorkspace()
    const { asked, stop } = mockProvider(() => Response.json({}))
    const body = { model: "acme/opus-1", messages: [{ role: "user", content: "" }] }
    const { error } = await expectJson<{ error: { message: string } }>(400, as.post("/chat/completions", body))
    stop()
    expect(error.message).toContain("messages")
    expect(asked).toEqual([])
  })
})

describe("as they came", () => {
  const turnsOf = (messages: Json[]) =>
    toOwnTurns(MessagesRequest.parse({ model: "m", max_tokens: 9, messages }).messages)
  const answer = (...content: Json[]) => ({ role: "assistant", content })
  const sealed = { type: "redacted_thinking", data: CARRIED }
  const foreign = { type: "thinking", thinking: "x", signature: CARRIED }

  test("what is not the provider's own is left out, and its own stays", () => {
    const own = [
      { type: "thinking", thinking: "x", signature: "s==" },
      { type: "redacted_thinking", data: "sealed==" },
      { type: "text", text: "So." },
    ]
    expect(turnsOf([user("Hi"), answer(sealed, ...own, foreign)])).toEqual([user("Hi"), answer(...own)])
  })

  test("a turn of which nothing is left is none, and its neighbours are one", () => {
    const messages = [user("Hi"), answer(sealed, foreign), { role: "user", content: "?" }, answer(), user("!")]
    const content = [user("Hi"), user("?"), user("!")].flatMap((turn) => turn.content)
    expect(turnsOf(messages)).toEqual([{ role: "user", content }])
  })

  test("turns between which nothing was left out stay apart", () => {
    const messages = [user("Hi"), user("?"), answer({ type: "text", text: "So." })]
    expect(turnsOf(messages)).toEqual(messages)
  })

  test("where nothing is left, the messages are at fault", () => {
    expect(() => turnsOf([answer(sealed)])).toThrow(/^messages: must not be empty/)
  })
})
