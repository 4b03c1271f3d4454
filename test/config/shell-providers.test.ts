import { describe, expect, test } from "vitest"
import { providersOfShell } from "../../src/dev/start/shell-providers.ts"

describe("provider keys in the shell of npm start", () => {
  test("are used with their base URL, and nothing else is", () => {
    const shell = {
      OPENAI_API_KEY: "sk-1",
      OPENAI_BASE_URL: "https://proxy.example/v1",
      GOOGLE_API_KEY: "g-1",
      GROQ_API_KEY: "",
      STRIPE_API_KEY: "not a provider",
      MASTER_KEY: "not a provider",
    }
    expect(providersOfShell(shell, {})).toEqual({
      OPENAI_API_KEY: "sk-1",
      OPENAI_BASE_URL: "https://proxy.example/v1",
      GOOGLE_API_KEY: "g-1",
    })
  })

  test("do not override .dev.vars, whichever name it uses", () => {
    expect(providersOfShell({ OPENAI_API_KEY: "sk-1" }, { OPENAI_API_KEY: "sk-2" })).toEqual({})
    expect(providersOfShell({ GOOGLE_API_KEY: "g-1" }, { GEMINI_API_KEY: "g-2" })).toEqual({})
    expect(
      providersOfShell({ OPENAI_API_KEY: "sk-1", OPENAI_BASE_URL: "https://a" }, { OPENAI_BASE_URL: "https://b" }),
    ).toEqual({ OPENAI_API_KEY: "sk-1" })
  })

  test("include the base URL of a server without a key, and custom providers", () => {
    const shell = { LLAMA_CPP_BASE_URL: "http://127.0.0.1:9000/v1", CUSTOM_PROVIDERS: "[]" }
    expect(providersOfShell(shell, {})).toEqual(shell)
    expect(providersOfShell(shell, { CUSTOM_PROVIDERS: "[]", LLAMA_CPP_BASE_URL: "http://127.0.0.1:1/v1" })).toEqual({})
    expect(providersOfShell({ GROQ_BASE_URL: "https://a" }, {})).toEqual({})
  })

  test("are skipped if their base URL is unknown, which would stop the gateway", () => {
    expect(providersOfShell({ AZURE_API_KEY: "a" }, {})).toEqual({})
    const azure = { AZURE_API_KEY: "a", AZURE_RESOURCE_NAME: "mine" }
    expect(providersOfShell(azure, {})).toEqual(azure)
    expect(providersOfShell({ AZURE_API_KEY: "a" }, { AZURE_RESOURCE_NAME: "mine" })).toEqual({ AZURE_API_KEY: "a" })
  })
})
