import { describe, expect, test } from "vitest"
import { GatewayError } from "../../src/errors/errors.ts"
import type { Env } from "../../src/config/env.ts"
import { configuredModeration, moderate, toModerationInput } from "../../src/plugins/moderation.ts"
import { type Answer, network, redirect, rejectionOf, SECRET } from "../server-tools/mock-network.ts"

const settings = { baseUrl: "https://moderation.test/v1", apiKey: SECRET, model: "judge", timeoutMs: 200 }
const { signal } = new AbortController()
const verdict = (...flags: boolean[]) =>
  Response.json({ results: flags.map((flagged) => ({ flagged, categories: { violence: flagged, hate: false } })) })

type Input = { texts?: string[]; images?: string[] }
async function judge(answer: Answer, input: Input = { texts: ["hello"] }) {
  const { fetch, sent } = network({ "*": answer })
  return { sent, verdict: await moderate({ texts: [], images: [], ...input }, settings, { fetch, signal }) }
}

describe("moderation of a request", () => {
  test("uses the configured model, with all texts in one call", async () => {
    const { sent, verdict: given } = await judge(verdict(false, false), { texts: ["one", "two", " "] })
    expect(given).toEqual({ flagged: false, categories: [] })
    expect(sent).toMatchObject([
      {
        url: "https://moderation.test/v1/moderations",
        method: "POST",
        redirect: "manual",
        headers: { authorization: `Bearer ${SECRET}` },
        body: JSON.stringify({ model: "judge", input: ["one", "two"] }),
      },
    ])
  })

  test("flags it if any part is flagged, with the categories", async () => {
    expect((await judge(verdict(false, true), { texts: ["one", "two"] })).verdict).toEqual({
      flagged: true,
      categories: ["violence"],
    })
  })

  test("checks images one by one", async () => {
    const images = ["https://a.example/1.png", "data:image/png;base64,AA"]
    const { sent, verdict: given } = await judge(({ body }) => verdict(body.includes("data:")), { images })
    expect(given.flagged).toBe(true)
    expect(sent.map(({ body }) => (JSON.parse(body) as { input: unknown }).input)).toEqual(
      images.map((url) => [{ type: "image_url", image_url: { url } }]),
    )
  })

  test("of empty texts sends no request", async () => {
    expect(await judge(verdict(true), { texts: ["", "\n"] })).toEqual({
      sent: [],
      verdict: { flagged: false, categories: [] },
    })
  })

  test("of too many images is rejected", async () => {
    const images = Array(21).fill("data:,") as string[]
    expect(await rejectionOf(() => judge(verdict(false), { images }))).toBe(
      "messages: at most 20 images are moderated in one request.",
    )
  })
})

describe("a failed moderation rejects the request", () => {
  test.each([
    ["a refusal", new Response(SECRET, { status: 401 })],
    ["a failure", new Response("oops", { status: 500 })],
    ["a redirect", redirect("https://evil.test/")],
    ["a broken connection", new Error(`with ${SECRET}`)],
    ["a response that is not JSON", new Response("yes")],
    ["no results", Response.json({ results: [] })],
    ["results of another shape", Response.json({ results: [{ flagged: "no" }] })],
    ["too few results", verdict(false)],
    ["silence", () => new Promise<Response>(() => {})],
    ["an endless response", new Response("x".repeat(2_100_000))],
  ])("%s", async (_, answer) => {
    const error = await judge(answer, { texts: ["one", "two"] }).then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    expect(error).toBeInstanceOf(GatewayError)
    expect(error).toMatchObject({ code: "unavailable", metadata: { retryable: true } })
    expect((error as GatewayError).message).toBe(
      "The moderation model is not available, so the request was not sent. Retry later.",
    )
  })

  test("one image of two", async () => {
    const answer = ({ body }: { body: string }) =>
      body.includes("2.png") ? new Response("", { status: 500 }) : verdict(false)
    const images = ["https://a.example/1.png", "https://a.example/2.png"]
    await expect(judge(answer, { images })).rejects.toThrow(GatewayError)
  })
})

describe("the moderation model of a deployment", () => {
  const configured = (variables: Record<string, string>) => configuredModeration(variables as unknown as Env)

  test.each([
    [{}, undefined],
    [{ OPENAI_API_KEY: "o" }, ["https://api.openai.com/v1", "o", "omni-moderation-latest"]],
    [
      { OPENAI_API_KEY: "o", OPENAI_BASE_URL: "https://proxy.test/v1" },
      ["https://proxy.test/v1", "o", "omni-moderation-latest"],
    ],
    [
      { OPENAI_API_KEY: "o", MODERATION_API_KEY: "m", OPENAI_BASE_URL: "https://p.test" },
      ["https://api.openai.com/v1", "m", "omni-moderation-latest"],
    ],
    [
      { OPENAI_API_KEY: "o", MODERATION_BASE_URL: "http://10.0.0.9/v1", MODERATION_MODEL: "mine" },
      ["http://10.0.0.9/v1", undefined, "mine"],
    ],
    [
      { MODERATION_BASE_URL: "https://m.test/v1", MODERATION_API_KEY: "m" },
      ["https://m.test/v1", "m", "omni-moderation-latest"],
    ],
  ])("%j", (variables, expected) => {
    const settings = configured(variables)
    expect(settings && [settings.baseUrl, settings.apiKey, settings.model]).toEqual(expected)
  })

  test("is rejected for an invalid URL", async () => {
    expect(await rejectionOf(() => configured({ MODERATION_BASE_URL: "moderation" }))).toMatch(
      /^MODERATION_BASE_URL: must be an http/,
    )
  })
})

test("the moderation input has all messages but the assistant's", () => {
  const messages = [
    { role: "system", content: "s" },
    { role: "user", content: [{ type: "text", text: "u" }, { type: "image_url", image_url: { url: "data:," } }, null] },
    { role: "assistant", content: "a" },
    { role: "tool", tool_call_id: "x", content: "t" },
  ]
  expect(toModerationInput(messages)).toEqual({ texts: ["s", "u", "t"], images: ["data:,"] })
})
