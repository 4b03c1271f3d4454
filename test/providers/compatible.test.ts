import { describe, expect, test } from "vitest"
import { toUpstreamBody } from "../../src/providers/upstream-request.ts"
import type { Provider } from "../../src/providers/provider.ts"
import { findBuiltInProvider } from "../../src/providers/table.ts"
import { ChatRequest } from "../../src/formats/schemas.ts"

const OUTGOING = { upstreamId: "m", maxCompletionTokens: undefined, pseudonym: undefined }

function providerOf(slug: string): Provider {
  const row = findBuiltInProvider(slug)
  if (!row) throw new Error(`There is no provider ${slug}.`)
  const { cloud: _, responses: __, ...fields } = row
  return { ...fields, baseUrl: row.baseUrl ?? "" }
}

const request = ChatRequest.parse({
  model: "a/b",
  messages: [
    { role: "system", content: [{ type: "text", text: "Be brief", cache_control: { type: "ephemeral" } }] },
    { role: "user", content: "Hi" },
    {
      role: "assistant",
      content: null,
      model: "a/b",
      reasoning: "hm",
      reasoning_details: [{ type: "reasoning.text", text: "hm", signature: "s" }],
      tool_calls: [
        { id: "c", type: "function", function: { name: "f", arguments: "{}" }, extra_content: { google: 1 } },
      ],
    },
    { role: "tool", tool_call_id: "c", content: "ok" },
  ],
  tools: [{ type: "function", function: { name: "f" }, cache_control: { type: "ephemeral" } }],
  cache_control: { type: "ephemeral" },
  top_k: 5,
  repetition_penalty: 1.1,
  temperature: 0.5,
  reasoning: { effort: "high" },
})

describe("what this interface family adds to the OpenAI wire", () => {
  test.each(["openai", "groq", "mistral", "xai", "google-ai-studio", "fireworks"])(
    "is not sent to %s, which would refuse the request for it",
    (slug) => {
      const body = toUpstreamBody(request, providerOf(slug), OUTGOING)
      expect(body).toMatchObject({ model: "m", temperature: 0.5, reasoning_effort: "high" })
      expect(body["messages"]).toEqual([
        { role: "system", content: [{ type: "text", text: "Be brief" }] },
        { role: "user", content: "Hi" },
        {
          role: "assistant",
          content: null,
          // What a provider itself put on a call goes back to it.
          tool_calls: [
            { id: "c", type: "function", function: { name: "f", arguments: "{}" }, extra_content: { google: 1 } },
          ],
        },
        { role: "tool", tool_call_id: "c", content: "ok" },
      ])
      expect(body["tools"]).toEqual([{ type: "function", function: { name: "f" } }])
      for (const key of ["cache_control", "top_k", "repetition_penalty", "reasoning"])
        expect(body).not.toHaveProperty(key)
    },
  )

  test.each(["openrouter", "deepinfra", "together"])("goes to %s as it came", (slug) => {
    const body = toUpstreamBody(request, providerOf(slug), OUTGOING)
    expect(body).toMatchObject({ top_k: 5, cache_control: { type: "ephemeral" }, messages: request.messages })
  })
})
