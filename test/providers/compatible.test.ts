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

test("output limits and numbers of choices under other names are not sent: the hold does not cover them", () => {
  const more = { max_new_tokens: 9e9, n_predict: -1, num_predict: -1, max_output_tokens: 9e9, best_of: 20, top_a: 0.5 }
  const body = toUpstreamBody({ ...request, ...more, max_tokens: 5 }, providerOf("openrouter"), OUTGOING)
  expect(body).toMatchObject({ max_tokens: 5, top_a: 0.5 })
  for (const name of Object.keys(more)) if (name !== "top_a") expect(body).not.toHaveProperty(name)
})

describe("gateway extensions of the OpenAI format", () => {
  test.each(["openai", "groq", "mistral", "xai", "google-ai-studio"])(
    "are not sent to %s, which would reject them",
    (slug) => {
      const body = toUpstreamBody(request, providerOf(slug), OUTGOING)
      expect(body).toMatchObject({ model: "m", temperature: 0.5, reasoning_effort: "high" })
      expect(body["messages"]).toEqual([
        { role: "system", content: [{ type: "text", text: "Be brief" }] },
        { role: "user", content: "Hi" },
        {
          role: "assistant",
          content: null,
          // Fields that a provider added to a call are returned to it.
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

  test.each(["openrouter", "deepinfra", "together"])("are sent to %s unchanged", (slug) => {
    const body = toUpstreamBody(request, providerOf(slug), OUTGOING)
    expect(body).toMatchObject({ top_k: 5, cache_control: { type: "ephemeral" }, messages: request.messages })
  })
})
