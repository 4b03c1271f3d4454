import { readFileSync } from "node:fs"
import path from "node:path"
import { describe, expect, test } from "vitest"
import type { Env } from "../../src/config/env.ts"
import { configuredProviders, customProviders } from "../../src/providers/configured.ts"
import { builtInProviders } from "../../src/providers/table.ts"

function env(variables: Record<string, unknown>): Env {
  return variables as unknown as Env
}

const server = (slug: string) => JSON.stringify([{ slug, base_url: "http://127.0.0.1:8080/v1", models: [] }])

test("the README has the number of built-in providers", () => {
  const readme = readFileSync(path.join(import.meta.dirname, "../../README.md"), "utf8")
  expect(readme).toContain(`${builtInProviders.length} built in`)
})

describe("configured providers", () => {
  test("are those whose secret is set", () => {
    const providers = configuredProviders(env({ OPENAI_API_KEY: "sk-1", GROQ_API_KEY: "" }))
    expect([...providers.keys()]).toEqual(["openai"])
    expect(providers.get("openai")).toMatchObject({
      name: "OpenAI",
      baseUrl: "https://api.openai.com/v1",
      apiKey: "sk-1",
      keyHeader: "authorization",
    })
  })

  test("have several keys if the variable lists several, without duplicates", () => {
    const providers = configuredProviders(env({ OPENAI_API_KEY: " sk-1, sk-2\nsk-1,", GROQ_API_KEY: "g-1," }))
    expect(providers.get("openai")).toMatchObject({ apiKey: "sk-1", apiKeys: ["sk-1", "sk-2"] })
    expect(providers.get("groq")).toMatchObject({ apiKey: "g-1" })
    expect(providers.get("groq")).not.toHaveProperty("apiKeys")
    expect(configuredProviders(env({ OPENAI_API_KEY: " , " })).size).toBe(0)
  })

  test("use the operator's proxy if its URL is set", () => {
    const providers = configuredProviders(
      env({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: "https://proxy.example/openai/" }),
    )
    expect(providers.get("openai")?.baseUrl).toBe("https://proxy.example/openai")
  })

  test.each([
    [{ OPENAI_API_KEY: "k" }, "openai", true],
    [{ OPENAI_API_KEY: "k", OPENAI_BASE_URL: "https://eu.api.openai.com/v1" }, "openai", true],
    [{ OPENAI_API_KEY: "k", OPENAI_BASE_URL: "http://127.0.0.1:9000/v1" }, "openai", undefined],
    [{ OPENAI_API_KEY: "k", OPENAI_BASE_URL: "https://openai.com.example/v1" }, "openai", undefined],
    [{ AZURE_API_KEY: "k", AZURE_BASE_URL: "https://acme.openai.azure.com/openai/v1" }, "azure", true],
    [{ GROQ_API_KEY: "k" }, "groq", undefined],
  ])("with %j, models of %s that need the Responses format get it: %s", (variables, slug, expected) => {
    expect(configuredProviders(env(variables)).get(slug)?.quirks.needsResponses).toBe(expected)
  })

  test("are rejected with an invalid proxy URL", () => {
    const wrong = env({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: "https://user:secret@proxy.example" })
    expect(() => configuredProviders(wrong)).toThrow(/^OPENAI_BASE_URL: must be an http or https URL without/)
    expect(() => configuredProviders(wrong)).not.toThrow(/secret/)
  })

  test("include custom servers, which take precedence over local ones with the same slug", () => {
    const both = env({ CUSTOM_PROVIDERS: server("ollama"), LOCAL_PROVIDERS: server("ollama") })
    expect([...configuredProviders(both).keys()]).toEqual(["ollama"])
    expect(customProviders(both)).toHaveLength(1)
  })

  test("include the embedded upstream if it is bound", () => {
    expect(configuredProviders(env({ EMBEDDED: {} })).get("embedded")).toMatchObject({ embedded: true })
    expect(configuredProviders(env({})).size).toBe(0)
  })

  test("are parsed once for an environment", () => {
    const same = env({ OPENAI_API_KEY: "k" })
    expect(configuredProviders(same)).toBe(configuredProviders(same))
  })
})

describe("the table of providers", () => {
  test.each(builtInProviders.map((provider) => [provider.slug, provider] as const))(
    "%s is well formed",
    (_, provider) => {
      expect(provider.slug).toMatch(/^[a-z0-9][a-z0-9-]{0,62}$/)
      expect(provider.secret).toMatch(/^[A-Z0-9_]+_API_KEY$/)
      // Providers without a URL have one per account.
      if (provider.baseUrl === null) return
      expect(provider.baseUrl).toMatch(/^https:\/\/[^?#]+[^/]$/)
      expect(provider.baseUrl).not.toMatch(/\/chat\/completions$/)
    },
  )

  test("has unique slugs and secrets", () => {
    expect(new Set(builtInProviders.map(({ slug }) => slug)).size).toBe(builtInProviders.length)
    expect(new Set(builtInProviders.map(({ secret }) => secret)).size).toBe(builtInProviders.length)
  })
})

describe("alternative variable names", () => {
  test.each([
    ["google-ai-studio", { GEMINI_API_KEY: "k" }],
    ["google-ai-studio", { GOOGLE_API_KEY: "k" }],
    ["moonshotai", { MOONSHOT_API_KEY: "k" }],
    ["alibaba", { DASHSCOPE_API_KEY: "k" }],
    ["xai", { GROK_API_KEY: "k" }],
  ])("configure %s by %j", (slug, variables) => {
    expect(configuredProviders(env(variables)).get(slug)?.apiKey).toBe("k")
  })

  test.each([
    [
      "amazon-bedrock",
      { AWS_BEARER_TOKEN_BEDROCK: "k", AWS_REGION: "eu-west-1" },
      "https://bedrock-runtime.eu-west-1.amazonaws.com",
    ],
    [
      "azure",
      { AZURE_OPENAI_API_KEY: "k", AZURE_OPENAI_ENDPOINT: "https://acme.openai.azure.com/" },
      "https://acme.openai.azure.com/openai/v1",
    ],
    [
      "cloudflare",
      { CLOUDFLARE_API_KEY: "k", CLOUDFLARE_ACCOUNT_ID: "0123abcd" },
      "https://api.cloudflare.com/client/v4/accounts/0123abcd/ai/v1",
    ],
  ])("configure the URL of %s by %j", (slug, variables, baseUrl) => {
    expect(configuredProviders(env(variables)).get(slug)).toMatchObject({ apiKey: "k", baseUrl })
  })

  test("without a URL are rejected with the variables to set", () => {
    const keyAlone = env({ AWS_BEARER_TOKEN_BEDROCK: "not-to-quote" })
    expect(() => configuredProviders(keyAlone)).toThrow(/AMAZON_BEDROCK_BASE_URL or AWS_REGION/)
    expect(() => configuredProviders(keyAlone)).not.toThrow(/not-to-quote/)
  })
})
