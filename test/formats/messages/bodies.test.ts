import { createAnthropic } from "@ai-sdk/anthropic"
import { describe, expect, test } from "vitest"
import { toMessagesBody } from "../../../src/formats/messages/upstream/to-body.ts"
import { ChatRequest } from "../../../src/formats/schemas.ts"
import type { Json } from "./recorded.ts"

/** Request body of the published client for a prompt, beside the gateway's body for the same prompt as chat. */

type Options = Parameters<ReturnType<ReturnType<typeof createAnthropic>>["doGenerate"]>[0]

const MESSAGE = {
  id: "m",
  type: "message",
  role: "assistant",
  model: "m",
  content: [],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
}

async function clientBody(options: Omit<Options, "prompt"> & { prompt: unknown }, id: string): Promise<Json> {
  let body: Json = {}
  const fetcher = (async (_: unknown, init?: RequestInit) => {
    body = JSON.parse(init?.body as string) as Json
    return Response.json(MESSAGE)
  }) as typeof fetch
  await createAnthropic({ apiKey: "sk-test", fetch: fetcher })(id).doGenerate(options as Options)
  return body
}

function ourBody(fields: Json, id: string): Json {
  const request = ChatRequest.parse({ model: "m", max_tokens: 4_000, ...fields })
  return toMessagesBody(request, { upstreamId: id, maxCompletionTokens: undefined, pseudonym: undefined })
}

/** Treats a text result and a result of text blocks as equal. */
function same(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(same)
  if (typeof value !== "object" || value === null) return value
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined && inner !== null)
  const plain = Object.fromEntries(entries.map(([key, inner]) => [key, same(inner)]))
  if (plain["type"] !== "tool_result" || typeof plain["content"] !== "string") return plain
  return { ...plain, content: [{ type: "text", text: plain["content"] }] }
}

const f = { type: "object", properties: { x: { type: "number" } }, required: ["x"], additionalProperties: false }
const functionTools = [
  { type: "function", name: "f", description: "d", inputSchema: f },
  { type: "function", name: "g", inputSchema: { type: "object", properties: {} } },
]
const chatTools = [
  { type: "function", function: { name: "f", description: "d", parameters: f } },
  { type: "function", function: { name: "g", parameters: { type: "object", properties: {} } } },
]
const user = (text: string) => ({ role: "user", content: [{ type: "text", text }] })
const cached = { anthropic: { cacheControl: { type: "ephemeral" } } }
const mark = { cache_control: { type: "ephemeral" } }

const CASES: [string, Json, Json, string?][] = [
  ["a word", { prompt: [user("Hi")] }, { messages: [user("Hi")] }],
  [
    "instructions, kept",
    { prompt: [{ role: "system", content: "S", providerOptions: cached }, user("Hi")] },
    { messages: [{ role: "system", content: [{ type: "text", text: "S", ...mark }] }, user("Hi")] },
  ],
  [
    "consecutive user messages",
    { prompt: [user("A"), user("B"), { role: "assistant", content: [{ type: "text", text: "C" }] }, user("D")] },
    { messages: [user("A"), user("B"), { role: "assistant", content: "C" }, user("D")] },
  ],
  [
    "an assistant prefill, without its trailing whitespace",
    { prompt: [user("A"), { role: "assistant", content: [{ type: "text", text: "C  \n" }] }] },
    { messages: [user("A"), { role: "assistant", content: "C  \n" }] },
  ],
  [
    "images",
    {
      prompt: [
        {
          role: "user",
          content: [
            { type: "file", mediaType: "image/png", data: { type: "data", data: "AAAA" } },
            { type: "file", mediaType: "image/*", data: { type: "url", url: new URL("https://e.org/a.png") } },
            { type: "text", text: "What?", providerOptions: cached },
          ],
        },
      ],
    },
    {
      messages: [
        {
          role: "user",
          content: [
            { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
            { type: "image_url", image_url: { url: "https://e.org/a.png" } },
            { type: "text", text: "What?", ...mark },
          ],
        },
      ],
    },
  ],
  [
    "documents",
    {
      prompt: [
        {
          role: "user",
          content: [
            { type: "file", mediaType: "application/pdf", filename: "a.pdf", data: { type: "data", data: "JVBERi0=" } },
            { type: "file", mediaType: "text/plain", filename: "a.txt", data: { type: "data", data: "w6Q=" } },
          ],
        },
      ],
    },
    {
      messages: [
        {
          role: "user",
          content: [
            { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERi0=" } },
            { type: "file", file: { filename: "a.txt", file_data: "data:text/plain;base64,w6Q=" } },
          ],
        },
      ],
    },
  ],
  [
    "tool calls, their results, and text",
    {
      prompt: [
        user("Go"),
        {
          role: "assistant",
          content: [
            { type: "text", text: "I go." },
            { type: "tool-call", toolCallId: "a", toolName: "f", input: { x: 1 } },
            { type: "tool-call", toolCallId: "b", toolName: "g", input: {} },
          ],
        },
        {
          role: "tool",
          content: [
            { type: "tool-result", toolCallId: "a", toolName: "f", output: { type: "text", value: "one" } },
            { type: "tool-result", toolCallId: "b", toolName: "g", output: { type: "text", value: "two" } },
          ],
        },
        user("And?"),
      ],
      tools: functionTools,
    },
    {
      messages: [
        user("Go"),
        {
          role: "assistant",
          content: "I go.",
          tool_calls: [
            { id: "a", type: "function", function: { name: "f", arguments: '{"x":1}' } },
            { id: "b", type: "function", function: { name: "g", arguments: "" } },
          ],
        },
        { role: "tool", tool_call_id: "a", content: "one" },
        { role: "tool", tool_call_id: "b", content: "two" },
        user("And?"),
      ],
      tools: chatTools,
    },
  ],
  [
    "thoughts",
    {
      prompt: [
        user("Go"),
        {
          role: "assistant",
          content: [
            { type: "reasoning", text: "Hm.", providerOptions: { anthropic: { signature: "s" } } },
            { type: "reasoning", text: "", providerOptions: { anthropic: { redactedData: "d" } } },
            { type: "text", text: "So." },
          ],
        },
        user("And?"),
      ],
    },
    {
      messages: [
        user("Go"),
        {
          role: "assistant",
          content: "So.",
          reasoning_details: [
            { type: "reasoning.text", text: "Hm.", signature: "s", format: "anthropic-claude-v1" },
            { type: "reasoning.encrypted", data: "d", format: "anthropic-claude-v1" },
          ],
        },
        user("And?"),
      ],
    },
  ],
  [
    "a required tool call",
    { prompt: [user("Hi")], tools: functionTools, toolChoice: { type: "required" } },
    { messages: [user("Hi")], tools: chatTools, tool_choice: "required" },
  ],
  [
    "a required call of one tool",
    { prompt: [user("Hi")], tools: functionTools, toolChoice: { type: "tool", toolName: "g" } },
    { messages: [user("Hi")], tools: chatTools, tool_choice: { type: "function", function: { name: "g" } } },
  ],
  [
    "no parallel tool calls",
    {
      prompt: [user("Hi")],
      tools: functionTools,
      toolChoice: { type: "auto" },
      providerOptions: { anthropic: { disableParallelToolUse: true } },
    },
    { messages: [user("Hi")], tools: chatTools, tool_choice: "auto", parallel_tool_calls: false },
  ],
  [
    "sampling",
    { prompt: [user("Hi")], temperature: 0.3, topP: 0.5, topK: 5, stopSequences: ["END"] },
    { messages: [user("Hi")], temperature: 0.3, top_p: 0.5, top_k: 5, stop: ["END"] },
  ],
  [
    "a temperature above the maximum",
    { prompt: [user("Hi")], temperature: 1.5 },
    { messages: [user("Hi")], temperature: 1.5 },
  ],
  [
    "sampling parameters of a model without them",
    { prompt: [user("Hi")], temperature: 0.3, topK: 5 },
    { messages: [user("Hi")], temperature: 0.3, top_k: 5 },
    "claude-opus-4-8",
  ],
  [
    "a thinking budget, which excludes temperature",
    {
      prompt: [user("Hi")],
      temperature: 0.3,
      providerOptions: { anthropic: { thinking: { type: "enabled", budgetTokens: 2_000 } } },
    },
    { messages: [user("Hi")], temperature: 0.3, reasoning: { max_tokens: 2_000 } },
  ],
  ["no thinking", { prompt: [user("Hi")], reasoning: "none" }, { messages: [user("Hi")], reasoning_effort: "none" }],
  [
    "an effort, with adaptive thinking",
    { prompt: [user("Hi")], reasoning: "high" },
    { messages: [user("Hi")], reasoning_effort: "high" },
    "claude-opus-4-8",
  ],
  [
    "no thinking, of a model that always thinks",
    { prompt: [user("Hi")], reasoning: "none" },
    { messages: [user("Hi")], reasoning_effort: "none" },
    "claude-opus-5-5",
  ],
  [
    "a schema",
    { prompt: [user("Hi")], responseFormat: { type: "json", schema: f } },
    { messages: [user("Hi")], response_format: { type: "json_schema", json_schema: { name: "n", schema: f } } },
  ],
]

const COMPARED = [
  "system",
  "messages",
  "tools",
  "tool_choice",
  "thinking",
  "temperature",
  "top_p",
  "top_k",
  "stop_sequences",
  "output_config",
]

describe("the request body equals that of @ai-sdk/anthropic", () => {
  test.each(CASES)("%s", async (_, options, fields, id = "claude-sonnet-4-5") => {
    const theirs = await clientBody({ maxOutputTokens: 4_000, ...options } as never, id)
    const ours = ourBody(fields, id)
    for (const key of COMPARED) expect([key, same(ours[key])]).toEqual([key, same(theirs[key])])
  })
})
