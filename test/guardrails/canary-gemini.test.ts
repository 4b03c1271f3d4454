import { describe, expect, test } from "vitest"
import { toAppliedGuardrails } from "../../src/guardrails/applied.ts"
import { screeningOf } from "../../src/guardrails/create-screening.ts"
import { toChatRequest } from "../../src/inference/endpoints/gemini/request.ts"
import { isArray, isObject, type Json } from "../../src/support/text/json.ts"
import { PLAIN_CALL } from "../support/screening.ts"

/** Requests of the Gemini API become chat requests before guardrails read them. */

const SCHEMA = {
  type: "OBJECT",
  title: "Lookup",
  properties: { city: { type: "STRING", enum: ["Oslo"], description: "The city.", example: "Oslo" } },
}
const REQUEST = {
  systemInstruction: { parts: [{ text: "Be brief." }] },
  contents: [
    {
      role: "user",
      parts: [
        { text: "Hello" },
        { inlineData: { mimeType: "text/plain", data: btoa("a note of some length") } },
        { fileData: { mimeType: "image/png", fileUri: "https://example.com/a.png?who=ann" } },
        { executableCode: { language: "PYTHON", code: "print(1)" } },
        { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1" } },
      ],
    },
    {
      role: "model",
      parts: [
        { text: "I look." },
        {
          functionCall: { id: "c", name: "look", args: { city: "Oslo", deep: { list: ["a"] } } },
          thoughtSignature: "s",
        },
      ],
    },
    { role: "user", parts: [{ functionResponse: { id: "c", name: "look", response: { weather: ["sunny"] } } }] },
  ],
  tools: [
    {
      functionDeclarations: [
        { name: "look", description: "Looks.", parameters: SCHEMA },
        { name: "find", description: "Finds.", parametersJsonSchema: { type: "object", $comment: "c" } },
      ],
    },
  ],
  generationConfig: { stopSequences: ["end"], responseSchema: SCHEMA },
  user: "u",
  session_id: "s",
  metadata: { team: "red" },
}

type Path = readonly (string | number)[]

/** Values that the schemas check, and values that are not sent. */
const EXCLUDED =
  /(?:^|\.)(?:role|type|mimeType|language|outcome)$|functionResponse\.(?:id|name)$|Declarations\.\d+\.name$/

function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value === "string") return EXCLUDED.test(path.join(".")) ? [] : [path]
  if (isArray(value)) return value.flatMap((one, at) => pathsOf(one, [...path, at]))
  return isObject(value) ? Object.entries(value).flatMap(([key, one]) => pathsOf(one, [...path, key])) : []
}

function placed(value: unknown, [key, ...rest]: Path, secret: string): unknown {
  if (key === undefined) {
    const text = String(value)
    return text.length > 20 && !text.includes("/") ? btoa(`${atob(text)} ${secret}`) : `${text} ${secret}`
  }
  if (isArray(value)) return value.map((one, at) => (at === key ? placed(one, rest, secret) : one))
  const fields = Object.entries(value as Json)
  return Object.fromEntries(fields.map(([name, one]) => [name, name === key ? placed(one, rest, secret) : one]))
}

const RULES = JSON.stringify({ content_filters: [{ action: "block", pattern: "CANARY-\\d{4}", label: "canary" }] })

/** The guardrail of one call. */
function screening(rules = RULES) {
  const row = { id: "g", name: "Rail", isDefault: false, limitNano: null, resetInterval: null }
  const applied = { ...row, includeByokInBudgets: false, byKey: true, byMember: false, keyHash: "k", userId: null }
  return screeningOf(toAppliedGuardrails([{ ...applied, rules }]), PLAIN_CALL)
}

describe("a text in a request of the Gemini API", () => {
  const chatOf = (body: unknown) => toChatRequest(body as Json, "a/b", false).chat

  test.each(pathsOf(REQUEST).map((path) => [path.join("."), path] as const))("%s is screened", async (_, path) => {
    const chat = chatOf(placed(REQUEST, path, "CANARY-1234"))
    await expect(screening()?.request(chat)).rejects.toMatchObject({ metadata: { reason: "guardrail_blocked" } })
  })

  test("is sent unchanged if no guardrail finds anything in it", async () => {
    const chat = chatOf(REQUEST)
    expect(await screening()?.request(chat)).toBe(chat)
  })
})

test("a thought signature of Google's models is not redacted", async () => {
  const rules = JSON.stringify({ content_filters: [{ action: "redact", pattern: "CANARY-\\d{4}", label: "canary" }] })
  const call = { functionCall: { id: "c", name: "look", args: { to: "CANARY-1234" } }, thoughtSignature: "CANARY-1234" }
  const contents = [{ parts: [{ text: "Hi" }] }, { role: "model", parts: [call] }]
  const chat = await screening(rules)?.request(toChatRequest({ contents }, "a/b", false).chat)
  expect(chat?.messages[1]).toMatchObject({
    tool_calls: [
      {
        function: { arguments: '{"to":"[canary]"}' },
        extra_content: { google: { thought_signature: "CANARY-1234" } },
      },
    ],
  })
})
