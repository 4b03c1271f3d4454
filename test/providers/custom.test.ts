import { describe, expect, test } from "vitest"
import { GatewayError } from "../../src/errors/errors.ts"
import { ChatRequest } from "../../src/formats/schemas.ts"
import { toCustomModels } from "../../src/models/custom-models.ts"
import { keyFilterOf } from "../../src/providers/key-filter.ts"
import { providerUrl } from "../../src/providers/provider.ts"
import { redact } from "../../src/providers/responses/rejection.ts"
import { parseCustomProviders, toProvider } from "../../src/providers/custom.ts"
import { credentialHeader, toUpstreamBody, withDefaultFields } from "../../src/providers/upstream-request.ts"

const SECRET = "sk-do-not-show-me"
const minimal = { slug: "local", base_url: "http://127.0.0.1:11434/v1", models: [{ id: "qwen2.5:7b" }] }

function parse(...providers: unknown[]) {
  return parseCustomProviders("CUSTOM_PROVIDERS", JSON.stringify(providers))
}

function rejectionOf(json: string): string {
  try {
    parseCustomProviders("CUSTOM_PROVIDERS", json)
  } catch (error) {
    if (error instanceof GatewayError && error.code === "misconfigured") return error.message
    throw error
  }
  throw new Error("was taken")
}

describe("a custom provider", () => {
  test("requires only a slug, a URL and model ids", () => {
    expect(parse(minimal).map(toProvider)).toEqual([
      {
        slug: "local",
        name: "local",
        baseUrl: "http://127.0.0.1:11434/v1",
        format: "openai",
        keyHeader: "authorization",
        quirks: { takesDeveloper: true },
      },
    ])
  })

  test("accepts a key and its header", () => {
    const [provider] = parse({ ...minimal, api_key: SECRET, key_header: "X-Api-Key", name: "Ours" }).map(toProvider)
    expect(provider).toMatchObject({ name: "Ours", apiKey: SECRET, keyHeader: "x-api-key" })
  })

  test("that rejects stream_options is not sent any, whatever the client asks for", () => {
    for (const [fields, sent] of [
      [{}, { include_usage: true }],
      [{ stream_options: false }, undefined],
    ] as const) {
      const [provider] = parse({ ...minimal, ...fields }).map(toProvider)
      if (!provider) throw new Error("no provider")
      for (const streamOptions of [undefined, null, { include_usage: true }]) {
        const request = ChatRequest.parse({
          model: "local/qwen2.5:7b",
          messages: [{ role: "user", content: "Hi" }],
          stream: true,
          stream_options: streamOptions,
        })
        const body = toUpstreamBody(request, provider, {
          upstreamId: "qwen2.5:7b",
          maxCompletionTokens: undefined,
          pseudonym: undefined,
        })
        expect(body["stream_options"]).toEqual(sent)
      }
    }
  })

  test("sends its further headers and query with each request", () => {
    const [custom] = parse({
      ...minimal,
      api_key: SECRET,
      headers: { "Cf-Aig-Authorization": "Bearer gateway-secret" },
      query: { "api-version": "2024-10-21", deployment: "a b" },
    })
    const provider = custom && toProvider(custom)
    if (!provider) throw new Error("no provider")
    expect(credentialHeader(provider)).toEqual({
      authorization: `Bearer ${SECRET}`,
      "cf-aig-authorization": "Bearer gateway-secret",
    })
    expect(providerUrl(provider, "/chat/completions")).toBe(
      "http://127.0.0.1:11434/v1/chat/completions?api-version=2024-10-21&deployment=a+b",
    )
    expect(providerUrl(provider, "/realtime?model=m")).toMatch(/\/realtime\?model=m&api-version=/)
  })

  test("adds the fields of its body to each JSON request that does not have them", () => {
    const [custom] = parse({ ...minimal, body: { input_type: "query", user: "gateway" } })
    const provider = custom && toProvider(custom)
    if (!provider) throw new Error("no provider")
    const body = { model: "m", input: "Hi", user: "u" }
    expect(withDefaultFields({ body }, provider)).toEqual({ body: { ...body, input_type: "query" } })
    const form = { body, form: new FormData() }
    expect(withDefaultFields(form, provider)).toBe(form)
  })

  test("shows no secret of its headers and query", () => {
    const secrets = {
      headers: { "X-Auth-Token": "header-secret-1", "X-App": "an-ordinary-app" },
      query: { key: "query-secret-2" },
    }
    const [custom] = parse({ ...minimal, ...secrets })
    const provider = custom && toProvider(custom)
    if (!provider) throw new Error("no provider")
    const quoted = "header-secret-1, an-ordinary-app and query-secret-2"
    expect(redact(quoted, provider)).toBe("[redacted], an-ordinary-app and [redacted]")
    expect(keyFilterOf(provider)?.text(quoted)).toBe("[redacted], an-ordinary-app and [redacted]")
    const chunks = keyFilterOf(provider)?.chunks()
    const sent = quoted.split("").map((one) => chunks?.push(new TextEncoder().encode(one)) ?? new Uint8Array(0))
    const text = [...sent, chunks?.end() ?? new Uint8Array(0)].map((part) => new TextDecoder().decode(part)).join("")
    expect(text).toBe("[redacted], an-ordinary-app and [redacted]")
  })

  describe("is sent", () => {
    const bodyFor = (fields: object, request: object, upstreamId = "llama-3") => {
      const [custom] = parse({ ...minimal, ...fields })
      if (!custom) throw new Error("no provider")
      const messages = [
        { role: "developer", content: "Be brief" },
        { role: "user", content: "Hi" },
      ]
      const parsed = ChatRequest.parse({ model: "local/m", messages, ...request })
      return toUpstreamBody(parsed, toProvider(custom), { upstreamId, maxCompletionTokens: 9, pseudonym: "p" })
    }

    test("the role system in place of developer if it says that it rejects it", () => {
      const roleOf = (fields: object) => (bodyFor(fields, {})["messages"] as { role: string }[])[0]?.role
      expect(roleOf({})).toBe("developer")
      expect(roleOf({ developer_role: false })).toBe("system")
    })

    test("the output limit in the field of the request, of the provider, or of OpenAI's models", () => {
      expect(bodyFor({}, { max_completion_tokens: 5 })).toMatchObject({ max_completion_tokens: 5 })
      expect(bodyFor({}, {})).toMatchObject({ max_tokens: 9 })
      expect(bodyFor({}, { max_tokens: 5 }, "o3-mini")).toMatchObject({ max_completion_tokens: 5 })
      const old = bodyFor({ output_limit_field: "max_tokens" }, { max_completion_tokens: 5 }, "o3-mini")
      expect(old).toMatchObject({ max_tokens: 5 })
      expect(old).not.toHaveProperty("max_completion_tokens")
    })

    test("content as strings if it rejects parts", () => {
      const part = (text: string) => ({ type: "text", text })
      const image = { role: "user", content: [part("See"), { type: "image_url", image_url: { url: "data:," } }] }
      const call = { id: "c", type: "function", function: { name: "f", arguments: "{}" } }
      const messages = [
        { role: "user", content: [part("Hi"), part("there")] },
        { role: "assistant", content: null, tool_calls: [call] },
        image,
      ]
      const contents = (fields: object) =>
        (bodyFor(fields, { messages })["messages"] as { content: unknown }[]).map(({ content }) => content)
      expect(contents({ content_parts: false })).toEqual(["Hi\nthere", "", image.content])
      expect(contents({})).toEqual(messages.map(({ content }) => content))
    })

    test("no field that it does not support", () => {
      const request = { seed: 1, top_k: 3, user: "u" }
      expect(bodyFor({ unsupported_fields: ["seed", "user"] }, request)).not.toHaveProperty("seed")
      expect(bodyFor({ unsupported_fields: ["seed", "user"] }, request)).not.toHaveProperty("user")
      expect(bodyFor({ strict: true }, request)).not.toHaveProperty("top_k")
    })

    test("no empty list of tools, and nothing that is only for tools", () => {
      const body = bodyFor({}, { tools: [], tool_choice: "auto", parallel_tool_calls: true })
      for (const name of ["tools", "tool_choice", "parallel_tool_calls"]) expect(body).not.toHaveProperty(name)
    })
  })

  test("names models with other characters by a public id", () => {
    const ids = ["gpt://folder/yandexgpt/latest", "accounts/a/models/m#accounts/a/deployments/d", "Llama 3 8B"]
    for (const id of ids) {
      expect(parse({ ...minimal, models: [{ id, model: "acme/m" }] }).flatMap(toCustomModels)[0]).toMatchObject({
        id: "acme/m",
        endpoints: [{ upstreamId: id }],
      })
      expect(rejectionOf(JSON.stringify([{ ...minimal, models: [{ id }] }]))).toContain("models[0].id: must be letters")
    }
  })

  test.each([
    "https://x.example/v1/",
    "https://x.example/v1//",
    "https://x.example/v1/chat/completions",
    "https://x.example/v1/chat/completions/",
    "https://x.example/v1/responses",
    "https://x.example/v1/messages",
  ])("has a base URL without the path of a call: %s", (base_url) => {
    expect(parse({ ...minimal, base_url })[0]?.base_url).toBe("https://x.example/v1")
  })

  test.each([
    ["https://x.example", "anthropic", "https://x.example/v1"],
    ["https://x.example/v1", "anthropic", "https://x.example/v1"],
    ["https://x.example/proxy", "anthropic", "https://x.example/proxy"],
    ["https://x.example", "openai", "https://x.example"],
  ])("at %s with the API format of %s is called at %s", (base_url, apiFormat, expected) => {
    const [custom] = parse({ ...minimal, base_url, wire: apiFormat })
    expect(custom && toProvider(custom).baseUrl).toBe(expected)
  })

  test("has its models under its slug, including slashes and colons", () => {
    const models = [{ id: "meta-llama/Llama-3.1-8B" }, { id: "qwen2.5:7b" }]
    const ids = parse({ ...minimal, models }).flatMap(toCustomModels)
    expect(ids.map(({ id }) => id)).toEqual(["local/meta-llama/Llama-3.1-8B", "local/qwen2.5:7b"])
    expect(ids[0]?.endpoints[0]).toMatchObject({ provider: "local", upstreamId: "meta-llama/Llama-3.1-8B" })
  })

  const FULL = {
    prompt: "0.1",
    completion: "0.2",
    request: "0.3",
    input_cache_read: "0.01",
    input_cache_write: "0.125",
    input_cache_write_1h: "0.2",
    internal_reasoning: "0.4",
    image: "0.5",
    audio: "0.6",
    image_output: "0.7",
    second: "0.8",
  }

  test("prices a model only if both token prices are set, zero included", () => {
    const models = [
      { id: "none" },
      { id: "half", prompt: "0.1" },
      { id: "free", prompt: "0", completion: "0" },
      { id: "full", ...FULL },
    ]
    const pricing = parse({ ...minimal, models })
      .flatMap(toCustomModels)
      .map((model) => model.endpoints[0]?.pricing)
    expect(pricing).toEqual([null, null, { prompt: "0", completion: "0" }, FULL])
  })

  test("needs no price of completions where there are none", () => {
    const models = [
      { id: "vectors", output: ["embeddings"], prompt: "0.1" },
      { id: "ranks", output: ["rerank"], prompt: "0.1", completion: "0.2" },
      { id: "writes", output: ["text"], prompt: "0.1" },
      { id: "writes-too", output: ["embeddings", "text"], prompt: "0.1" },
      { id: "unpriced", output: ["embeddings"] },
    ]
    const pricing = parse({ ...minimal, models })
      .flatMap(toCustomModels)
      .map(({ endpoints: [endpoint] }) => endpoint?.pricing)
    expect(pricing).toEqual([
      { prompt: "0.1", completion: "0" },
      { prompt: "0.1", completion: "0.2" },
      null,
      null,
      null,
    ])
  })

  const model = (fields: object) => [{ ...minimal, models: [{ id: "m", ...fields }] }]
  const provider = (fields: object) => [{ ...minimal, ...fields }]
  test.each([
    ["a value that is not a list", {}, "CUSTOM_PROVIDERS: must be a JSON array of providers."],
    ["a provider that is not an object", ["x"], "CUSTOM_PROVIDERS[0]: must be a provider"],
    ["an unknown field", provider({ [SECRET]: 1 }), "CUSTOM_PROVIDERS[0]: has an unknown field"],
    ["no slug", provider({ slug: undefined }), "CUSTOM_PROVIDERS[0].slug: must be 1 to 63 lower-case"],
    ["a slug in capitals", provider({ slug: "Local" }), "CUSTOM_PROVIDERS[0].slug: must be 1 to 63 lower-case"],
    ["a slug that is too long", provider({ slug: "a".repeat(64) }), "CUSTOM_PROVIDERS[0].slug: must be 1 to 63"],
    ["the slug of a known provider", provider({ slug: "openai" }), "CUSTOM_PROVIDERS[0].slug: is the slug"],
    ["the embedded slug", provider({ slug: "embedded" }), "CUSTOM_PROVIDERS[0].slug: is the slug"],
    ["the simulated author", provider({ slug: "sim" }), "CUSTOM_PROVIDERS[0].slug: is the slug"],
    ["a duplicate slug", [minimal, minimal], "CUSTOM_PROVIDERS[1].slug: is in the list twice"],
    ["no base URL", provider({ base_url: undefined }), "CUSTOM_PROVIDERS[0].base_url: must be an http or https URL"],
    ["another scheme", provider({ base_url: "ftp://x.example" }), "CUSTOM_PROVIDERS[0].base_url: must be"],
    ["credentials", provider({ base_url: `https://u:${SECRET}@x.example` }), "CUSTOM_PROVIDERS[0].base_url: must be"],
    [
      "a query",
      provider({ base_url: `https://x.example/?key=${SECRET}` }),
      "CUSTOM_PROVIDERS[0].base_url: must be without",
    ],
    ["a fragment", provider({ base_url: "https://x.example/#a" }), "CUSTOM_PROVIDERS[0].base_url: must be"],
    ["a key with a line break", provider({ api_key: `${SECRET}\n` }), "CUSTOM_PROVIDERS[0].api_key: must be printable"],
    [
      "an invalid header name",
      provider({ key_header: SECRET + ":" }),
      "CUSTOM_PROVIDERS[0].key_header: must be the name",
    ],
    [
      "a header that the gateway sets",
      provider({ headers: { Host: "x" } }),
      "CUSTOM_PROVIDERS[0].headers.Host: must be",
    ],
    [
      "a header with a line break",
      provider({ headers: { "x-a": `${SECRET}\n` } }),
      "CUSTOM_PROVIDERS[0].headers.x-a: must",
    ],
    ["a body that is a text", provider({ body: SECRET }), "CUSTOM_PROVIDERS[0].body: must be an object of fields"],
    ["a body with an output limit", provider({ body: { max_tokens: 1 } }), "CUSTOM_PROVIDERS[0].body: must not have"],
    ["a body with a number of choices", provider({ body: { n: 9 } }), "CUSTOM_PROVIDERS[0].body: must not have"],
    ["a query that is a text", provider({ query: SECRET }), "CUSTOM_PROVIDERS[0].query: must be an object"],
    [
      "another output limit",
      provider({ output_limit_field: SECRET }),
      "CUSTOM_PROVIDERS[0].output_limit_field: accepts",
    ],
    ["an unknown format", provider({ wire: SECRET }), 'CUSTOM_PROVIDERS[0].wire: accepts "openai" or "anthropic".'],
    ["no models", provider({ models: undefined }), "CUSTOM_PROVIDERS[0].models: must be an array of models."],
    ["an id with a space", model({ id: "a b" }), "CUSTOM_PROVIDERS[0].models[0].id: must be letters"],
    ["an id with an empty segment", model({ id: "a//b" }), "CUSTOM_PROVIDERS[0].models[0].id: must be letters"],
    ["a duplicate model", provider({ models: [{ id: "m" }, { id: "m" }] }), "CUSTOM_PROVIDERS[0].models[1].id: is in"],
    [
      "a price that is a number",
      model({ prompt: 0.1 }),
      "CUSTOM_PROVIDERS[0].models[0].prompt: must be a decimal string",
    ],
    ["a negative price", model({ completion: "-1" }), "CUSTOM_PROVIDERS[0].models[0].completion: must be a decimal"],
    ["an unknown field of a model", model({ [SECRET]: 1 }), "CUSTOM_PROVIDERS[0].models[0]: has an unknown field"],
    [
      "a context length of 0",
      model({ context_length: 0 }),
      "CUSTOM_PROVIDERS[0].models[0].context_length: must be positive",
    ],
    [
      "a fraction of a token",
      model({ max_completion_tokens: 0.5 }),
      "CUSTOM_PROVIDERS[0].models[0].max_completion_tokens: must be",
    ],
  ])("rejects %s with the field and without a secret", (_, value, expectedError) => {
    const withKey =
      Array.isArray(value) && value.length === 1 && typeof value[0] === "object" && !("api_key" in value[0])
    const message = rejectionOf(JSON.stringify(withKey ? [{ ...value[0], api_key: SECRET }] : value))
    expect(message).toContain(expectedError)
    expect(message).not.toContain(SECRET)
  })

  test("rejects text that is not JSON without quoting it", () => {
    expect(rejectionOf(`[{"api_key": "${SECRET}`)).toBe(
      "CUSTOM_PROVIDERS: must be a JSON array of providers; it is not valid JSON.",
    )
  })
})
