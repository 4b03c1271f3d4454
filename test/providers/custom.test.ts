import { describe, expect, test } from "vitest"
import { GatewayError } from "../../src/errors/errors.ts"
import { ChatRequest } from "../../src/formats/schemas.ts"
import { toCustomModels } from "../../src/models/custom-models.ts"
import { parseCustomProviders, toProvider } from "../../src/providers/custom.ts"
import { toUpstreamBody } from "../../src/providers/upstream-request.ts"

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
    ["a query", provider({ base_url: `https://x.example/?key=${SECRET}` }), "CUSTOM_PROVIDERS[0].base_url: must be"],
    ["a fragment", provider({ base_url: "https://x.example/#a" }), "CUSTOM_PROVIDERS[0].base_url: must be"],
    ["a key with a line break", provider({ api_key: `${SECRET}\n` }), "CUSTOM_PROVIDERS[0].api_key: must be printable"],
    [
      "an invalid header name",
      provider({ key_header: SECRET + ":" }),
      "CUSTOM_PROVIDERS[0].key_header: must be the name",
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
