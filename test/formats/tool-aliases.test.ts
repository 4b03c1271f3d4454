import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { Candidates } from "../../src/formats/gemini/candidates.ts"
import { GeminiRequest } from "../../src/formats/gemini/schemas.ts"
import { toChatFields } from "../../src/formats/gemini/to-chat.ts"
import { replacedFunctionNames } from "../../src/formats/gemini/tools.ts"
import { toMessagesResult } from "../../src/formats/messages/from-chat.ts"
import { MessagesRequest } from "../../src/formats/messages/schemas.ts"
import { toChatRequest } from "../../src/formats/messages/to-chat.ts"
import { ResponsesRequest } from "../../src/formats/responses/schemas.ts"
import { toChatRequest as fromResponses } from "../../src/formats/responses/to-chat.ts"
import { replacedNames, toChatName } from "../../src/formats/tools/tool-aliases.ts"

const LONG = "mcp__ymir-privileged__get_failed_pipeline_jobs_from_merge_request_"
const [ONE, TWO] = [`${LONG}one`, `${LONG}two`]
const CHAT_NAME = /^[\w-]{1,64}$/

describe("names of tools that the chat format does not allow", () => {
  test("are replaced by names that it allows; all others stay", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 200, unit: "grapheme" }), (name) => {
        expect(toChatName(name)).toMatch(CHAT_NAME)
        expect(toChatName(name) === name).toBe(CHAT_NAME.test(name))
        expect(replacedNames([name]).get(toChatName(name)) ?? toChatName(name)).toBe(name)
      }),
    )
  })

  test("stay apart if only their ends differ", () => {
    expect(toChatName(ONE)).not.toBe(toChatName(TWO))
  })

  test("of messages are the same in tools, choice and history, and restored in the response", () => {
    const request = MessagesRequest.parse({
      model: "a/b",
      max_tokens: 10,
      tools: [ONE, TWO].map((name) => ({ name, input_schema: { type: "object" } })),
      tool_choice: { type: "tool", name: TWO },
      messages: [
        { role: "user", content: "Hi" },
        { role: "assistant", content: [{ type: "tool_use", id: "t", name: TWO, input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: "ok" }] },
      ],
    })
    const chat = toChatRequest(request)
    const name = toChatName(TWO)
    expect(chat.tools?.map((tool) => tool["function"])).toMatchObject([{ name: toChatName(ONE) }, { name }])
    expect(chat.tool_choice).toMatchObject({ function: { name } })
    expect(chat.messages[1]).toMatchObject({ tool_calls: [{ function: { name } }] })

    const call = { id: "c", type: "function", function: { name, arguments: "{}" } }
    const choices = [{ index: 0, finish_reason: "tool_calls", message: { role: "assistant", tool_calls: [call] } }]
    const facts = { id: "m", model: "a/b", newId: () => "n", toolNames: replacedNames([ONE, TWO]) }
    expect(toMessagesResult({ choices }, facts).content).toMatchObject([{ type: "tool_use", name: TWO }])
  })

  test("of the Gemini API are replaced and restored", () => {
    const name = "github.list_issues"
    const request = GeminiRequest.parse({
      tools: [{ functionDeclarations: [{ name }, { name: "other" }] }],
      toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: [name] } },
      contents: [
        { role: "user", parts: [{ text: "Hi" }] },
        { role: "model", parts: [{ functionCall: { name, args: {} } }] },
        { role: "user", parts: [{ functionResponse: { name, response: { ok: true } } }] },
      ],
    })
    const chatName = toChatName(name)
    expect(toChatFields(request)).toMatchObject({
      tools: [{ function: { name: chatName } }],
      tool_choice: { function: { name: chatName } },
      messages: [{}, { tool_calls: [{ function: { name: chatName } }] }, { role: "tool" }],
    })
    const candidates = new Candidates(false, replacedFunctionNames(request))
    const call = { index: 0, id: "c", function: { name: chatName, arguments: "{}" } }
    candidates.advance({ choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: "tool_calls" }] })
    expect(candidates.finish()[0]).toMatchObject({ content: { parts: [{ functionCall: { name } }] } })
  })

  test("of a long namespace of responses stay apart", () => {
    const tools = ["search_one", "search_two"].map((name) => ({ type: "function", name }))
    const namespace = { type: "namespace", name: LONG.slice(0, 64), tools }
    const chat = fromResponses(ResponsesRequest.parse({ model: "a/b", input: "Hi", tools: [namespace] }))
    const names = (chat.tools ?? []).map((tool) => (tool["function"] as { name: string }).name)
    expect(new Set(names).size).toBe(2)
    for (const name of names) expect(name).toMatch(CHAT_NAME)
  })
})
