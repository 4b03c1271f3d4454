import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { adaptProvider } from "../../src/providers/responses/adaptation.ts"
import type { Provider, Quirks } from "../../src/providers/provider.ts"
import { toRejection } from "../../src/providers/responses/rejection.ts"
import type { Json } from "../../src/support/text/json.ts"

const providerWith = (quirks: Quirks): Provider => ({
  slug: "acme",
  name: "Acme",
  baseUrl: "https://acme.example/v1",
  format: "openai",
  keyHeader: "authorization",
  quirks,
})
const BODY: Json = {
  model: "m",
  stream: true,
  stream_options: { include_usage: true },
  max_tokens: 10,
  user: "u",
  top_k: 4,
  messages: [
    { role: "developer", content: "Be brief" },
    { role: "assistant", content: "x", reasoning_content: "hm" },
  ],
}

function learned(
  message: string,
  body: Json = BODY,
  { status = 400, quirks = {} }: { status?: number; quirks?: Quirks } = {},
) {
  const provider = providerWith(quirks)
  const answered = { status, headers: new Headers(), body: JSON.stringify({ error: { message } }) }
  return adaptProvider(provider, toRejection(provider, answered, { now: 0 }), body)?.quirks
}

describe("a rejected field", () => {
  test.each<[string, Quirks]>([
    ["Unrecognized request argument supplied: top_k", { rejects: ["top_k"] }],
    ['Invalid JSON payload received. Unknown name "top_k": Cannot find field.', { rejects: ["top_k"] }],
    ["[{'type': 'extra_forbidden', 'loc': ('body', 'user'), 'msg': 'Extra inputs'}]", { rejects: ["user"] }],
    ["property 'user' is unsupported", { rejects: ["user"] }],
    ["top_k and user are not supported", { rejects: ["top_k", "user"] }],
    ["stream_options: Extra inputs are not permitted", { noStreamOptions: true }],
    [
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      { maxTokensField: "max_completion_tokens" },
    ],
    ["messages[0].role: unknown variant `developer`, expected one of `system`, `user`", { takesDeveloper: false }],
    ["messages.1.reasoning_content: Extra inputs are not permitted", { isStrict: true }],
  ])("is left out or renamed after: %s", (message, quirks) => {
    expect(learned(message)).toMatchObject(quirks)
  })

  test("is max_completion_tokens for older servers", () => {
    const body = { model: "m", max_completion_tokens: 5, messages: [] }
    expect(learned("Unknown field max_completion_tokens", body)).toEqual({ maxTokensField: "max_tokens" })
  })

  test.each([
    "messages.0.content: Input should be a valid string",
    "messages[4].content: must be a string, got null",
    "messages[0].content: invalid type: sequence, expected a string at line 1",
    "messages[1]: missing field `content`",
  ])("may be content that is no string: %s", (message) => {
    const body = { messages: [{ role: "assistant", content: null, tool_calls: [] }] }
    expect(learned(message, body, { status: 422 })).toEqual({ needsStringContent: true })
    expect(learned(message, { messages: [{ role: "user", content: "Hi" }] }, { status: 422 })).toBeUndefined()
  })

  test("is added to those that are known", () => {
    expect(learned("Unknown field user", BODY, { quirks: { rejects: ["seed"] } })).toEqual({
      rejects: ["seed", "user"],
    })
  })

  test.each([
    ["a value that is out of range", "top_k: must be at most 100", 400],
    ["a field that was not sent", "Unknown field seed", 400],
    ["a field with which the request has another meaning", "Unknown field messages", 400],
    ["a part of another name", "Unknown field my_top_k_2", 400],
    ["a failure of the provider", "Unknown field top_k", 500],
    ["a rejected key", "Unknown field top_k: invalid api key", 401],
  ])("is not %s", (_, message, status) => {
    expect(learned(message, BODY, { status })).toBeUndefined()
  })
})

test("a message that quotes the client never changes usage or limits", () => {
  const names = ["stream_options", "max_tokens", "max_completion_tokens"] as const
  const quoted = fc.record({
    name: fc.constantFrom(...names),
    before: fc.string(),
    after: fc.string(),
    at: fc.constantFrom("content", "tool", "user"),
  })
  const holds = fc.property(quoted, ({ name, before, after, at }) => {
    const text = `${before}${name}${after}`
    const body: Json = {
      ...BODY,
      max_completion_tokens: 10,
      user: at === "user" ? text : "u",
      messages: [{ role: "user", content: at === "content" ? text : "Hi" }],
      ...(at === "tool" && { tools: [{ type: "function", function: { name: text } }] }),
    }
    const quirks = learned(`Unsupported parameter: '${name}'. Use 'max_completion_tokens'. Got ${text}`, body) ?? {}
    if (name === "stream_options") expect(quirks).not.toHaveProperty("noStreamOptions")
    else expect(quirks.maxTokensField).not.toBe(name === "max_tokens" ? "max_completion_tokens" : "max_tokens")
  })
  fc.assert(holds)
})
