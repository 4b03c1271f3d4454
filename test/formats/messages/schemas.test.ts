import { describe, expect, test } from "vitest"
import { explain } from "../../../src/http/schema.ts"
import { MessagesRequest } from "../../../src/formats/messages/schemas.ts"
import type { Json } from "./recorded.ts"

const SMALLEST = { model: "maker/model", max_tokens: 100, messages: [{ role: "user", content: "Hi" }] }

function errorFor(fields: Json): string {
  const parsed = MessagesRequest.safeParse({ ...SMALLEST, ...fields })
  return parsed.success ? "" : explain(parsed.error)
}
const withContent = (content: unknown, role = "user") => ({ messages: [{ role, content }] })

describe("a Messages request is accepted", () => {
  test.each([
    ["unchanged", {}],
    ["without a model, but with candidates", { model: undefined, models: ["a/b"] }],
    ["with nulls", { system: null, temperature: null, tools: null, tool_choice: null, thinking: null, metadata: null }],
    [
      "with a system of blocks",
      { system: [{ type: "text", text: "S", cache_control: { type: "ephemeral", ttl: "1h" } }] },
    ],
    ["with a tool of the messages format", { tools: [{ type: "bash_20250124", name: "bash" }] }],
    ["with a tool of the gateway", { tools: [{ type: "openrouter:datetime" }] }],
    ["with an unknown block", withContent([{ type: "container_upload", file_id: "f" }])],
    [
      "with a reference to a tool in a result",
      withContent([
        { type: "tool_result", tool_use_id: "t", content: [{ type: "tool_reference", tool_name: "deploy" }] },
      ]),
    ],
    ["with citations", withContent([{ type: "text", text: "x", citations: [] }], "assistant")],
    [
      "with thinking blocks of an earlier conversation",
      withContent([{ type: "thinking", thinking: "x" }], "assistant"),
    ],
  ])("%s", (_, fields) => {
    expect(errorFor(fields)).toBe("")
  })

  test("keeps unknown fields, and stream defaults to false", () => {
    expect(MessagesRequest.parse({ ...SMALLEST, something: 1 })).toEqual({ ...SMALLEST, something: 1, stream: false })
  })
})

describe("a Messages request is rejected with the field and the rule", () => {
  test.each([
    [{ max_tokens: undefined }, "max_tokens: must be an integer of at least 1"],
    [{ max_tokens: 0 }, "max_tokens: must be an integer of at least 1"],
    [{ max_tokens: 1.5 }, "max_tokens: must be an integer of at least 1"],
    [{ messages: [] }, "messages: must have at least 1 message"],
    [{ messages: "Hi" }, "messages: must be an array of messages"],
    [withContent("x", "tool"), "messages[0].role: must have a role: user, assistant or system"],
    [withContent(7), "messages[0].content: must be a string or an array of content blocks"],
    [{ system: 7 }, "system: must be a string or an array of text blocks"],
    [{ temperature: 1.2 }, "temperature: must be a number from 0 to 1"],
    [{ top_p: 2 }, "top_p: must be from 0 to 1"],
    [{ stop_sequences: "x" }, "stop_sequences: must be an array of strings"],
    [{ tools: [{}] }, "tools[0].name: must be 1 to 128 letters, digits, _ or -"],
    [{ tool_choice: "auto" }, "tool_choice: must be an object with a type: auto, any, tool or none"],
    [{ tool_choice: { type: "tool" } }, "tool_choice.name: must be a string"],
    [{ thinking: { type: "on" } }, "thinking.type: must have a type: enabled, adaptive, between_tools or disabled"],
    [
      { thinking: { type: "enabled", budget_tokens: 5 } },
      "thinking.budget_tokens: must be an integer of at least 1024",
    ],
    [
      { thinking: { type: "enabled", budget_tokens: 2_000 } },
      "thinking.budget_tokens: must be less than max_tokens (100), which includes the thinking",
    ],
    [{ output_config: { effort: "none" } }, "output_config.effort: accepts low, medium, high, xhigh, max or null"],
    [
      { output_config: { format: { type: "json_object", schema: {} } } },
      'output_config.format.type: accepts "json_schema"',
    ],
    [{ metadata: { user_id: 7 } }, "metadata.user_id: must be a string"],
    [{ stream: "yes" }, "stream: must be true or false"],
    [{ stop: ["x"] }, "stop: is a field of /chat/completions; here it is stop_sequences"],
    [{ reasoning: {} }, "reasoning: is a field of /chat/completions; here it is thinking and output_config.effort"],
    [{ n: 2 }, "n: must be 1: a message has one choice"],
    [{ container: "c" }, "container: is not available on this gateway: containers are not supported"],
    [
      { thread: { type: "create" } },
      "thread: is not available on this gateway: it stores no messages; send the full conversation in messages",
    ],
    [
      { inference_geo: "us" },
      "inference_geo: is not available on this gateway: the hostname of the request selects the region",
    ],
    [{ cache_control: { type: "persistent" } }, 'cache_control.type: accepts "ephemeral"'],
    [
      { provider: { sort: "luck" } },
      "provider.sort: accepts price, throughput, latency, exacto or an object with by and partition",
    ],
  ])("%j", (fields, message) => {
    expect(errorFor(fields)).toBe(`${message}.`)
  })

  test.each([
    [withContent([{ type: "text" }]), "messages[0].content[0].text: must be a string"],
    [
      withContent([{ type: "image", source: { type: "ftp" } }]),
      "messages[0].content[0].source.type: must have a type: base64, url or file",
    ],
    [
      withContent([{ type: "tool_use", id: "a", name: "f", input: "{}" }], "assistant"),
      "messages[0].content[0].input: must be an object",
    ],
    [
      withContent([{ type: "tool_result", tool_use_id: "a", content: [{ type: "tool_use" }] }]),
      "messages[0].content[0].content[0].type: must have a type: text, image, document, search_result or tool_reference",
    ],
    [{ system: [{ type: "text", text: 7 }] }, "system[0].text: must be a string"],
    [{ tools: [{ name: "f" }] }, "tools[0].input_schema: must be a JSON schema object"],
    [{ tools: [{ name: "f f", input_schema: {} }] }, "tools[0].name: must be 1 to 128 letters, digits, _ or -"],
  ])("in a list: %j", (fields, message) => {
    expect(errorFor(fields)).toBe(`${message}.`)
  })
})
