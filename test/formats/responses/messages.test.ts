import { describe, expect, test } from "vitest"
import { toChatRequest } from "../../../src/formats/responses/to-chat.ts"
import { ChatRequest } from "../../../src/formats/schemas.ts"
import { requestOf } from "./events-of.ts"

const call = (id: string, name = "f") => ({ type: "function_call", call_id: id, name, arguments: `{"of":"${id}"}` })
const chatCall = (id: string, name = "f") => ({
  id,
  type: "function",
  function: { name, arguments: `{"of":"${id}"}` },
})
const output = (id: string) => ({ type: "function_call_output", call_id: id, output: `out of ${id}` })
const toolMessage = (id: string) => ({ role: "tool", tool_call_id: id, content: `out of ${id}` })
const text = (value: string) => ({ type: "input_text", text: value })
const assistant = (value: string) => ({
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text: value }],
})

describe("input becomes messages", () => {
  const cases: [string, unknown, unknown[]][] = [
    ["a string", "Hi", [{ role: "user", content: "Hi" }]],
    [
      "messages of every role, with and without a type",
      [
        { role: "developer", content: "Be brief." },
        { type: "message", role: "system", content: [text("Be kind.")] },
        { type: "message", role: "user", content: [text("One."), text("Two.")] },
        { role: "assistant", content: "Three." },
      ],
      [
        { role: "developer", content: "Be brief." },
        { role: "system", content: "Be kind." },
        {
          role: "user",
          content: [
            { type: "text", text: "One." },
            { type: "text", text: "Two." },
          ],
        },
        { role: "assistant", content: "Three." },
      ],
    ],
    [
      "images, files, audio and video",
      [
        {
          role: "user",
          content: [
            { type: "input_image", image_url: "https://x/y.png", detail: "low" },
            { type: "input_image", image_url: null, file_id: "file-1", detail: "auto" },
            { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,AA==" },
            { type: "input_file", file_url: "https://x/y.pdf" },
            { type: "input_audio", input_audio: { data: "AA==", format: "wav" } },
            { type: "input_video", video_url: "https://x/y.mp4" },
            { ...text("See?"), prompt_cache_breakpoint: { mode: "explicit" } },
          ],
        },
      ],
      [
        {
          role: "user",
          content: [
            { type: "image_url", image_url: { url: "https://x/y.png", detail: "low" } },
            { type: "file", file: { file_id: "file-1" } },
            { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AA==" } },
            { type: "file", file: { file_data: "https://x/y.pdf" } },
            { type: "input_audio", input_audio: { data: "AA==", format: "wav" } },
            { type: "video_url", video_url: { url: "https://x/y.mp4" } },
            { type: "text", text: "See?", prompt_cache_breakpoint: { mode: "explicit" } },
          ],
        },
      ],
    ],
    [
      "text and a refusal of the assistant",
      [
        {
          type: "message",
          role: "assistant",
          id: "msg_1",
          status: "completed",
          content: [
            { type: "output_text", text: "A", annotations: [], logprobs: [] },
            { type: "output_text", text: "B" },
            { type: "refusal", refusal: "No." },
          ],
        },
      ],
      [{ role: "assistant", content: "AB", refusal: "No." }],
    ],
    [
      "several calls of one response",
      [
        { role: "user", content: "Go" },
        assistant("Wait."),
        call("1"),
        call("2"),
        output("1"),
        output("2"),
        assistant("Done."),
      ],
      [
        { role: "user", content: "Go" },
        { role: "assistant", content: "Wait.", tool_calls: [chatCall("1"), chatCall("2")] },
        toolMessage("1"),
        toolMessage("2"),
        { role: "assistant", content: "Done." },
      ],
    ],
    [
      "calls of consecutive responses",
      [call("1"), output("1"), call("2"), output("2")],
      [
        { role: "assistant", content: null, tool_calls: [chatCall("1")] },
        toolMessage("1"),
        { role: "assistant", content: null, tool_calls: [chatCall("2")] },
        toolMessage("2"),
      ],
    ],
    [
      "a text between a call and its output",
      [call("1"), assistant("Wait."), output("1")],
      [{ role: "assistant", content: "Wait.", tool_calls: [chatCall("1")] }, toolMessage("1")],
    ],
    [
      "an output with an image",
      [
        call("1"),
        {
          type: "function_call_output",
          call_id: "1",
          output: [text("See:"), { type: "input_image", image_url: "https://x/y.png", detail: "auto" }],
        },
      ],
      [
        { role: "assistant", content: null, tool_calls: [chatCall("1")] },
        {
          role: "tool",
          tool_call_id: "1",
          content: [
            { type: "text", text: "See:" },
            { type: "image_url", image_url: { url: "https://x/y.png", detail: "auto" } },
          ],
        },
      ],
    ],
    [
      "reasoning, with the fields that its provider verifies",
      [
        {
          type: "reasoning",
          id: "rs_provider",
          summary: [{ type: "summary_text", text: "In short." }],
          content: [{ type: "reasoning_text", text: "At length." }],
          encrypted_content: "sealed",
          signature: "signed",
          format: "openai-responses-v1",
        },
        assistant("Yes."),
        call("1"),
        output("1"),
      ],
      [
        {
          role: "assistant",
          content: "Yes.",
          reasoning: "In short.At length.",
          reasoning_details: [
            {
              index: 0,
              type: "reasoning.summary",
              summary: "In short.",
              id: "rs_provider",
              format: "openai-responses-v1",
            },
            {
              index: 1,
              type: "reasoning.text",
              text: "At length.",
              signature: "signed",
              id: "rs_provider",
              format: "openai-responses-v1",
            },
            { index: 2, type: "reasoning.encrypted", data: "sealed", id: "rs_provider", format: "openai-responses-v1" },
          ],
          tool_calls: [chatCall("1")],
        },
        toolMessage("1"),
      ],
    ],
    [
      "reasoning after the last call of a response",
      [call("1"), { type: "reasoning", id: "rs_gw_1", summary: [], encrypted_content: "sealed" }, output("1")],
      [
        {
          role: "assistant",
          content: null,
          tool_calls: [chatCall("1")],
          reasoning_details: [{ index: 0, type: "reasoning.encrypted", data: "sealed" }],
        },
        toolMessage("1"),
      ],
    ],
    [
      "reasoning without a message",
      [
        { type: "reasoning", id: "rs_gw_1", summary: [], content: [{ type: "reasoning_text", text: "Hm." }] },
        { role: "user", content: "?" },
      ],
      [
        {
          role: "assistant",
          content: "",
          reasoning: "Hm.",
          reasoning_details: [{ index: 0, type: "reasoning.text", text: "Hm." }],
        },
        { role: "user", content: "?" },
      ],
    ],
  ]
  test.each(cases)("%s", (_, input, messages) => {
    const chat = toChatRequest(requestOf({ input }))
    expect(chat.messages).toEqual(messages)
    expect(ChatRequest.parse(chat).messages).toEqual(messages)
  })

  test("instructions come first", () => {
    const chat = toChatRequest(requestOf({ instructions: "Be brief." }))
    expect(chat.messages).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hi" },
    ])
  })

  test.each([
    [{ type: "item_reference", id: "x" }, "input[1].type: item_reference refers to a stored item"],
    [{ type: "computer_call", call_id: "x" }, "input[1].type: computer_call is not supported"],
    [{ type: "local_shell_call_output", call_id: "x", output: "" }, "input[1].type: local_shell_call_output"],
  ])("an item that chat lacks is rejected: %j", (item, value) => {
    expect(() => toChatRequest(requestOf({ input: [{ role: "user", content: "Hi" }, item] }))).toThrow(value)
  })
})
