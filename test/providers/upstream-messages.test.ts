import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { ChatRequest } from "../../src/formats/schemas.ts"
import { toUpstreamBody } from "../../src/providers/upstream-request.ts"
import type { Provider, Quirks } from "../../src/providers/provider.ts"
import { findBuiltInProvider } from "../../src/providers/table.ts"
import { isObject, type Json, objectsOf } from "../../src/support/text/json.ts"

function providerOf(slug: string): Provider {
  const row = findBuiltInProvider(slug)
  if (!row) throw new Error(`There is no provider ${slug}.`)
  const { cloud: _, responses: __, ...fields } = row
  return { ...fields, baseUrl: row.baseUrl ?? "" }
}

function serverWith(quirks: Quirks): Provider {
  return { ...providerOf("deepinfra"), quirks }
}

function bodyFor(provider: Provider, fields: Json, upstreamId = "m"): Json {
  const request = ChatRequest.parse({ model: "a/b", ...fields })
  return toUpstreamBody(request, provider, { upstreamId, maxCompletionTokens: undefined, pseudonym: undefined })
}

function messagesFor(provider: Provider, messages: Json[], upstreamId?: string): Json[] {
  return objectsOf(bodyFor(provider, { messages }, upstreamId)["messages"])
}

const CALL = { id: "call_1", type: "function", function: { name: "f", arguments: "{}" } }
const ASKED = { role: "user", content: "Hi" }
const IMAGE = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }

describe("the reasoning of earlier turns", () => {
  const thought = { role: "assistant", content: null, reasoning: "hm", tool_calls: [CALL] }
  const detailed = {
    role: "assistant",
    content: null,
    reasoning_details: [
      { type: "reasoning.text", text: "h", index: 0 },
      { type: "reasoning.text", text: "m", index: 0 },
    ],
    tool_calls: [CALL],
  }
  const result = { role: "tool", tool_call_id: "call_1", content: "ok" }

  test.each(["deepseek", "moonshotai", "z-ai", "vllm", "deepinfra"])("is in the field that %s reads", (slug) => {
    for (const turn of [thought, detailed])
      expect(messagesFor(providerOf(slug), [ASKED, turn, result])[1]).toMatchObject({ reasoning_content: "hm" })
  })

  test("stays as the client sent it", () => {
    const sent = { role: "assistant", content: "x", reasoning: "short", reasoning_content: "long" }
    expect(messagesFor(providerOf("deepseek"), [ASKED, sent])[1]).toMatchObject({ reasoning_content: "long" })
  })

  test.each(["deepseek", "moonshotai"])("is never missing for %s, which rejects a turn without it", (slug) => {
    const turn = { role: "assistant", content: null, tool_calls: [CALL] }
    expect(messagesFor(providerOf(slug), [ASKED, turn, result])[1]).toMatchObject({ reasoning_content: " " })
  })

  test.each(["openai", "groq", "mistral", "xai"])("is not sent to %s under any name, which rejects it", (slug) => {
    const turn = { ...thought, reasoning_content: "hm", reasoning_text: "hm", thinking: "hm" }
    const sent = messagesFor(providerOf(slug), [ASKED, turn, result])[1]
    expect(Object.keys(sent ?? {}).toSorted()).toEqual(["content", "role", "tool_calls"])
  })

  test("is in the one field that a strict provider accepts", () => {
    expect(messagesFor(providerOf("cerebras"), [ASKED, thought, result])[1]).toMatchObject({ reasoning: "hm" })
    const fireworks = messagesFor(providerOf("fireworks"), [ASKED, thought, result])[1]
    expect(fireworks).toMatchObject({ reasoning_content: "hm" })
    expect(fireworks).not.toHaveProperty("reasoning")
  })
})

test.each(["ollama", "llama-cpp", "lm-studio", "vllm"])("the output limit of %s has the name that it reads", (slug) => {
  const body = bodyFor(providerOf(slug), { messages: [ASKED], max_completion_tokens: 9 })
  expect(body).toMatchObject({ max_tokens: 9 })
  expect(body).not.toHaveProperty("max_completion_tokens")
})

describe("reasoning that is turned off", () => {
  test.each(["deepseek", "moonshotai", "z-ai"])("is the switch of %s instead of an effort", (slug) => {
    for (const reasoning of [{ reasoning_effort: "none" }, { reasoning: { enabled: false } }]) {
      const body = bodyFor(providerOf(slug), { messages: [ASKED], ...reasoning })
      expect(body).toMatchObject({ thinking: { type: "disabled" } })
      expect(body).not.toHaveProperty("reasoning_effort")
      expect(body).not.toHaveProperty("reasoning")
    }
    const high = bodyFor(providerOf(slug), { messages: [ASKED], reasoning_effort: "high" })
    expect(high).toMatchObject({ reasoning_effort: "high" })
    expect(high).not.toHaveProperty("thinking")
  })
})

describe("instructions", () => {
  const system = (content: unknown, role = "system") => ({ role, content })
  const late = [system("A"), system("B", "developer"), ASKED, system("C", "developer"), ASKED]

  test.each(["deepseek", "vllm", "groq", "mistral", "google-ai-studio"])(
    "are one message of the system for %s",
    (slug) => {
      const sent = messagesFor(providerOf(slug), late)
      expect(sent).toEqual([system("A\n\nB"), ASKED, system("C"), ASKED])
    },
  )

  test("are all at the beginning for models of Qwen, whose template rejects others", () => {
    const sent = messagesFor(providerOf("vllm"), late, "Qwen/Qwen3.6-35B-A3B")
    expect(sent).toEqual([system("A\n\nB\n\nC"), ASKED, ASKED])
    expect(messagesFor(providerOf("vllm"), [ASKED, system("C"), ASKED], "qwen3")).toEqual([system("C"), ASKED, ASKED])
  })

  test("keep their parts if one has several", () => {
    const parts = [{ type: "text", text: "A" }]
    expect(messagesFor(providerOf("vllm"), [system(parts), system("B"), ASKED])[0]).toEqual(
      system([...parts, { type: "text", text: "B" }]),
    )
  })

  test.each(["openai", "azure", "openrouter", "xai"])("stay for %s", (slug) => {
    expect(messagesFor(providerOf(slug), late)).toEqual(late)
  })
})

describe("an image in the result of a tool", () => {
  const turn = { role: "assistant", content: null, tool_calls: [CALL, { ...CALL, id: "call_2" }] }
  const drawn = { role: "tool", tool_call_id: "call_1", content: [{ type: "text", text: "drawn" }, IMAGE] }
  const bare = { role: "tool", tool_call_id: "call_2", content: [IMAGE] }
  const label = (id: string) => ({ type: "text", text: `Result of the tool call ${id}:` })

  test("is in a message of the user after all results", () => {
    expect(messagesFor(providerOf("openai"), [ASKED, turn, drawn, bare]).slice(2)).toEqual([
      { ...drawn, content: [{ type: "text", text: "drawn" }] },
      { ...bare, content: "The result is in the next message of the user." },
      { role: "user", content: [label("call_1"), IMAGE, label("call_2"), IMAGE] },
    ])
  })

  test("is in the message of the user that follows the results", () => {
    const next = { role: "user", content: "What is it?", name: "Ann" }
    const sent = messagesFor(providerOf("openai"), [ASKED, turn, drawn, next]).slice(3)
    expect(sent).toEqual([{ ...next, content: [label("call_1"), IMAGE, { type: "text", text: "What is it?" }] }])
  })

  test.each(["mistral", "openrouter"])("stays for %s, which accepts it there", (slug) => {
    expect(messagesFor(providerOf(slug), [ASKED, turn, drawn]).at(-1)).toMatchObject({ content: drawn.content })
  })

  test("is never lost, and never in a tool message", () => {
    const content = fc.constantFrom("text", [IMAGE], [{ type: "text", text: "a" }, IMAGE, IMAGE], [])
    const message = fc.oneof(
      fc.record({ role: fc.constant("tool"), tool_call_id: fc.constantFrom("call_1", "call_2"), content }),
      fc.record({ role: fc.constant("user"), content: fc.constantFrom("text", [IMAGE]) }),
      fc.record({ role: fc.constant("assistant"), content: fc.constant("text") }),
    )
    const imagesIn = (messages: readonly Json[]) =>
      messages.flatMap(({ content: parts }) => objectsOf(parts)).filter(({ type }) => type === "image_url").length
    fc.assert(
      fc.property(fc.array(message, { minLength: 1 }), (messages) => {
        const sent = messagesFor(serverWith({}), messages)
        expect(imagesIn(sent)).toBe(imagesIn(messages))
        expect(imagesIn(sent.filter(({ role }) => role === "tool"))).toBe(0)
        const rolesOf = (list: readonly Json[]) => list.filter(({ role }) => role !== "user").map(({ role }) => role)
        expect(rolesOf(sent)).toEqual(rolesOf(messages))
      }),
    )
  })
})

describe("tool calls of an earlier turn", () => {
  const signed = { ...CALL, extra_content: { google: { thought_signature: "SIG" } } }
  const unsigned = { ...CALL, extra_content: { google: { thought_signature: "skip_thought_signature_validator" } } }
  const turn = (...calls: Json[]) => ({ role: "assistant", content: null, tool_calls: calls })

  test.each(["google-ai-studio", "google-vertex"])(
    "have a signature for Gemini 3 at %s, which rejects others",
    (slug) => {
      const sent = messagesFor(providerOf(slug), [ASKED, turn(CALL, CALL), turn(signed, CALL)], "gemini-3.5-flash")
      expect(sent.slice(1)).toEqual([turn(unsigned, CALL), turn(signed, CALL)])
    },
  )

  test("stay for Gemini 2, and for other providers", () => {
    const messages = [ASKED, turn(CALL)]
    expect(messagesFor(providerOf("google-ai-studio"), messages, "gemini-2.5-pro")).toEqual(messages)
    expect(messagesFor(providerOf("openai"), messages, "gemini-3-pro")).toEqual(messages)
  })
})

describe("parameters of sampling", () => {
  const SAMPLING = { temperature: 0, top_p: 0.5, presence_penalty: 1, frequency_penalty: 1, top_logprobs: 2 }
  const sampled = (slug: string, upstreamId: string, effort?: string) => {
    const fields = { messages: [ASKED], ...SAMPLING, logprobs: true, ...(effort && { reasoning_effort: effort }) }
    return Object.keys(SAMPLING).filter((name) => name in bodyFor(providerOf(slug), fields, upstreamId))
  }

  test.each([
    ["gpt-5-mini", undefined],
    ["gpt-5-mini", "none"],
    ["o3", undefined],
    ["gpt-5.2", "low"],
    ["gpt-5.6-sol", undefined],
    ["gpt-5.1-codex", undefined],
  ])("are not sent to OpenAI for %s with the effort %s, which would reject them", (model, effort) => {
    expect(sampled("openai", model, effort)).toEqual([])
    expect(sampled("azure", model, effort)).toEqual([])
  })

  test.each([
    ["openai", "gpt-4.1", undefined],
    ["openai", "gpt-5.2", undefined],
    ["openai", "gpt-5.6-sol", "none"],
    ["openai", "gpt-5-chat-latest", undefined],
    ["deepinfra", "gpt-5-mini", undefined],
  ])("are sent to %s for %s with the effort %s", (slug, model, effort) => {
    expect(sampled(slug, model, effort)).toEqual(Object.keys(SAMPLING))
  })
})

describe("fields of the OpenAI format", () => {
  const FIELDS = {
    frequency_penalty: 1,
    presence_penalty: 1,
    seed: 7,
    logit_bias: { "1": 1 },
    top_logprobs: 1,
    logprobs: true,
  }
  const sent = (slug: string) => {
    const request = ChatRequest.parse({ model: "a/b", messages: [ASKED], ...FIELDS })
    return toUpstreamBody(request, providerOf(slug), {
      upstreamId: "m",
      maxCompletionTokens: undefined,
      pseudonym: "p",
    })
  }

  test.each([
    ["mistral", ["user", "seed", "logit_bias", "logprobs", "top_logprobs"], ["random_seed", "frequency_penalty"]],
    ["google-ai-studio", ["user", "seed", "logit_bias", "frequency_penalty", "presence_penalty"], ["logprobs"]],
    ["google-vertex", ["user", "seed", "logit_bias", "frequency_penalty", "presence_penalty"], ["logprobs"]],
    ["deepseek", [], [...Object.keys(FIELDS), "user"]],
  ])("are not sent to %s if it rejects them: %j", (slug, rejected, kept) => {
    const body = sent(slug)
    for (const name of rejected) expect(body).not.toHaveProperty(name)
    for (const name of kept) expect(body).toHaveProperty(name)
  })
})

describe("Mistral's models", () => {
  const turn = { role: "assistant", content: null, tool_calls: [{ ...CALL, id: "toolu_01" }] }
  const result = { role: "tool", tool_call_id: "toolu_01", content: "ok" }

  test.each([
    ["mistral", "mistral-large-latest"],
    ["nvidia", "mistralai/mistral-small-4-119b-2603"],
    ["vllm", "mistralai/Devstral-Small-2-24B-Instruct-2512"],
    ["mistral", "magistral-medium-latest"],
    ["mistral", "codestral-2508"],
    ["mistral", "ministral-8b-latest"],
  ])("of %s get a turn between a tool and a user, and ids that they accept: %s", (slug, id) => {
    const sent = messagesFor(providerOf(slug), [ASKED, turn, result, { role: "user", content: "Go on" }], id)
    expect(sent.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant", "user"])
    const [call] = objectsOf(sent[1]?.["tool_calls"])
    expect(call?.["id"]).toMatch(/^[a-zA-Z0-9]{9}$/)
    expect(sent[2]?.["tool_call_id"]).toBe(call?.["id"])
  })

  test("keep their ids, and distinguish others", () => {
    const ids = ["abcDEF123", "toolu_01", "toolu_02", "call_1"]
    const calls = ids.map((id) => ({ ...CALL, id }))
    const sent = messagesFor(providerOf("mistral"), [ASKED, { ...turn, tool_calls: calls }], "mistral-small")
    const seen = objectsOf(sent[1]?.["tool_calls"]).map(({ id }) => id)
    expect(seen[0]).toBe("abcDEF123")
    expect(new Set(seen).size).toBe(ids.length)
  })

  test("are the only ones", () => {
    const messages = [ASKED, turn, result, { role: "user", content: "Go on" }]
    expect(messagesFor(providerOf("openai"), messages, "gpt-5.5")).toEqual(messages)
  })

  test("get the seed under the name of their API", () => {
    const body = bodyFor(providerOf("mistral"), { messages: [ASKED], seed: 7 })
    expect(body).toMatchObject({ random_seed: 7 })
    expect(isObject(body) && "seed" in body).toBe(false)
  })
})
