import * as fc from "fast-check"
import { expect, test } from "vitest"
import { toAppliedGuardrails } from "../../src/guardrails/applied.ts"
import { screeningOf } from "../../src/guardrails/create-screening.ts"
import { isArray, isObject, type Json } from "../../src/support/text/json.ts"
import { runs } from "../support/runs.ts"
import { PLAIN_CALL } from "../support/screening.ts"

const schema = {
  type: "object",
  title: "Lookup",
  description: "Finds a place.",
  properties: {
    city: { type: "string", enum: ["Oslo", "Rome"], default: "Oslo", description: "The city.", examples: ["Oslo"] },
    mode: { const: "walk", title: "Mode" },
    list: { type: "array", items: { type: "string", pattern: "^a", enum: ["x"], "x-hint": "An item." } },
  },
  required: ["city"],
  $comment: "Of the year 2026.",
  $defs: { place: { type: "object", properties: { title: { type: "string", description: "Its title." } } } },
}
const image = "https://example.com/a.png?who=ann&q=b%20c"
const note = `data:text/plain;base64,${btoa("a note of some length")}`

/** Requests with a string at every position of the schemas. */
const REQUESTS: Readonly<Record<string, Json>> = {
  chat: {
    model: "a/b",
    messages: [
      { role: "system", content: "Be brief." },
      {
        role: "user",
        name: "ann",
        content: [
          { type: "text", text: "Hello" },
          { type: "image_url", image_url: { url: image, detail: "low" } },
          { type: "file", file: { filename: "a.txt", file_data: note, file_id: "file-1" } },
          { type: "file", file: { filename: "b.txt", file_data: image } },
        ],
      },
      {
        role: "assistant",
        content: null,
        refusal: "no",
        reasoning: "thought",
        reasoning_details: [
          { type: "reasoning.text", text: "t", signature: "s", id: "r" },
          { type: "reasoning.encrypted", data: "e" },
        ],
        tool_calls: [{ id: "call_1", type: "function", function: { name: "look", arguments: '{"city":"Oslo"}' } }],
      },
      { role: "tool", tool_call_id: "call_1", content: "sunny" },
    ],
    tools: [{ type: "function", function: { name: "look", description: "Looks.", parameters: schema } }],
    tool_choice: { type: "function", function: { name: "look" }, reason: "r" },
    response_format: { type: "json_schema", json_schema: { name: "answer", description: "d", schema } },
    stop: ["end", "stop"],
    user: "u1",
    session_id: "s1",
    metadata: { team: "red" },
    prediction: { type: "content", content: "guess" },
    prompt_cache_key: "k",
    safety_identifier: "i",
    documents: [{ title: "Rivers", text: "Long." }],
    chat_template: "Use {{ messages }}",
    chat_template_kwargs: { style: { tone: "warm" } },
    image_config: { style: "oil" },
    web_search_options: { user_location: { type: "approximate", approximate: { city: "Oslo", country: "NO" } } },
  },
  responses: {
    model: "a/b",
    instructions: "Be brief.",
    input: [
      {
        type: "message",
        id: "m1",
        role: "user",
        content: [
          { type: "input_text", text: "Hello" },
          { type: "input_image", image_url: image, file_id: "f" },
          { type: "input_file", filename: "a", file_data: note, file_url: image },
        ],
      },
      { type: "reasoning", id: "r", encrypted_content: "e", summary: [{ type: "summary_text", text: "s" }] },
      { type: "function_call", id: "f", call_id: "c", name: "look", arguments: '{"a":"b"}' },
      { type: "function_call_output", call_id: "c", output: "sunny" },
    ],
    tools: [{ type: "function", name: "look", description: "d", parameters: schema }],
    text: { format: { type: "json_schema", name: "answer", schema } },
    metadata: { team: "red" },
    user: "u",
    previous_response_id: "p",
  },
  messages: {
    model: "a/b",
    system: [{ type: "text", text: "Be brief." }],
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "Hello" },
          { type: "image", source: { type: "url", url: image } },
          {
            type: "document",
            title: "t",
            context: "c",
            source: { type: "base64", media_type: "text/plain", data: btoa("a note of some length") },
          },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "t", signature: "s" },
          { type: "tool_use", id: "u", name: "look", input: { city: "Oslo", deep: { list: ["a"] } } },
        ],
      },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "u", content: [{ type: "text", text: "sunny" }] }],
      },
    ],
    tools: [{ name: "look", description: "d", input_schema: schema, input_examples: [{ city: "Oslo" }] }],
    stop_sequences: ["end"],
    metadata: { user_id: "u" },
  },
  embeddings: { model: "a/b", input: ["one", "two"], user: "u" },
  rerank: { model: "a/b", query: "q", documents: ["one", { text: "two", title: "t" }], instruction: "i" },
  moderations: {
    model: "a/b",
    input: [
      { type: "text", text: "one" },
      { type: "image_url", image_url: { url: "https://images.example/a.png?q=two" } },
    ],
    user: "u",
  },
  images: {
    model: "a/b",
    prompt: "a cat",
    negative_prompt: "dog",
    user: "u",
    style: "s",
    text_layout: [{ text: "t" }],
  },
  speech: { model: "a/b", input: "Hello", voice: "v", instructions: "slow", ref_text: "r" },
}

type Path = readonly (string | number)[]

/** Protocol values that the schemas check themselves. */
const CHECKED = new Set(["role", "type", "model", "detail", "media_type"])
const PROPERTIES = new Set(["properties", "metadata", "$defs", "input"])

/** Paths of all strings; the name of a free field has the path of the field and `#`. */
function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value === "string") return CHECKED.has(String(path.at(-1))) ? [] : [path]
  if (isArray(value)) return value.flatMap((one, at) => pathsOf(one, [...path, at]))
  if (!isObject(value)) return []
  const isFree = PROPERTIES.has(String(path.at(-1))) && typeof value["type"] !== "string"
  return Object.entries(value).flatMap(([key, one]) => [
    ...(isFree ? [[...path, key, "#"]] : []),
    ...pathsOf(one, [...path, key]),
  ])
}

const DATA = /^(data:text\/plain;base64,)?([A-Za-z0-9+/]{20,}={0,2})$/

/** The text with a canary in it, base64-encoded or URL-escaped where its position requires it. */
function withCanary(text: string, canary: string): string {
  const [, head = "", data] = DATA.exec(text) ?? []
  if (data !== undefined) return head + btoa(`${atob(data)} ${canary}`)
  if (text.startsWith("https://"))
    return (
      text +
      canary
        .split("")
        .map((char) => `%${char.charCodeAt(0).toString(16)}`)
        .join("")
    )
  return text.startsWith("{") ? text.replace(/"\}$/, `${canary}"}`) : `${text} ${canary}`
}

function placed(value: unknown, path: Path, canary: string): unknown {
  const [key, next] = path
  if (key === undefined) return withCanary(String(value), canary)
  if (isArray(value)) return value.map((one, at) => (at === key ? placed(one, path.slice(1), canary) : one))
  const fields = Object.entries(value as Json)
  if (next === "#")
    return Object.fromEntries(fields.map(([name, one]) => [name === key ? `${name}${canary}` : name, one]))
  return Object.fromEntries(
    fields.map(([name, one]) => [name, name === key ? placed(one, path.slice(1), canary) : one]),
  )
}

const BLOCKED = { content_filters: [{ action: "block", pattern: "CANARY-\\d{4}", label: "canary" }] }

function screening(given: Json = BLOCKED) {
  const rules = JSON.stringify(given)
  const row = { id: "g", name: "Rail", isDefault: false, limitNano: null, resetInterval: null, rules }
  const applied = { ...row, includeByokInBudgets: false, byKey: true, byMember: false, keyHash: "k", userId: null }
  return screeningOf(toAppliedGuardrails([applied]), PLAIN_CALL)
}

const POSITIONS = Object.entries(REQUESTS).flatMap(([format, request]) =>
  pathsOf(request).map((path) => ({ format, request, path })),
)

test("a blocked text at any position of a request reaches no provider", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...POSITIONS),
      fc.integer({ min: 1_000, max: 9_999 }),
      async (position, number) => {
        const { format, request, path } = position
        const body = placed(request, path, `CANARY-${number}`) as object
        await expect(screening()?.request(body), `${format} ${path.join(".")}`).rejects.toMatchObject({
          metadata: { reason: "guardrail_blocked", patterns: ["canary"] },
        })
      },
    ),
    { numRuns: runs(5) },
  )
})

test.each(POSITIONS.map((position) => [`${position.format} ${position.path.join(".")}`, position] as const))(
  "%s is screened",
  async (_, { request, path }) => {
    const body = placed(request, path, "CANARY-1234") as object
    await expect(screening()?.request(body)).rejects.toMatchObject({ metadata: { reason: "guardrail_blocked" } })
    expect(await screening()?.request(request)).toBe(request)
  },
)

/** Names and ids, which are never redacted; those at the top are not sent to providers, or identify a cache. */
const NAMES = new Set(
  (
    "user session_id metadata safety_identifier prompt_cache_key voice id call_id tool_call_id tool_use_id name file_id " +
    "signature encrypted_content required #"
  ).split(" "),
)
const TEXTS = POSITIONS.filter(({ path }) => !path.some((one) => NAMES.has(String(one))))
const EMAILS = { content_filter_builtins: [{ slug: "email", action: "redact" }] }
const ADDRESS = "ada@example.com"

/** Everything that a reader of the request can see, decoded. */
function readable(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) => {
    const data = typeof one === "string" ? DATA.exec(one)?.[2] : undefined
    return data === undefined ? one : atob(data)
  }).replaceAll(/%[0-9a-f]{2}/gi, (escaped) => decodeURIComponent(escaped))
}

test.each(TEXTS.map((position) => [`${position.format} ${position.path.join(".")}`, position] as const))(
  "%s is redacted by a detector",
  async (_, { request, path }) => {
    const passed = await screening(EMAILS)?.request(placed(request, path, ADDRESS) as object)
    expect(readable(passed)).not.toContain(ADDRESS)
    expect(readable(passed)).toContain("[EMAIL]")
  },
)

const utf16 = (text: string) => btoa(Array.from(text, (char) => `${char}\0`).join(""))
const wrapped = (text: string) => btoa(text).replaceAll(/.{8}/g, "$&\n")

test.each([
  `data:text/plain;base64,${wrapped(ADDRESS)}`,
  `data:text/plain;base64,${btoa(ADDRESS).replaceAll("=", "%3D")}`,
  `data:text/plain;charset="utf-8";base64,${btoa(ADDRESS)}`,
  `data:text/plain; charset=utf-8 ;base64,${btoa(ADDRESS)}`,
  `data:text/plain;charset=utf-16le;base64,${utf16(ADDRESS)}`,
  `data:text/plain;base64,${btoa(`\xff\xfe${atob(utf16(ADDRESS))}`)}`,
  `data:;base64,${btoa(ADDRESS)}`,
  `data:application/octet-stream;base64,${btoa(ADDRESS)}`,
  `data:application/x-ndjson;base64,${btoa(ADDRESS)}`,
  `data:application/toml;base64,${btoa(ADDRESS)}`,
  `data:image/svg+xml;base64,${btoa(`<svg><text>${ADDRESS}</text></svg>`)}`,
  `data:text/plain,${encodeURIComponent(ADDRESS)}`,
  `data:,${ADDRESS}`,
  `data:text/plain;note=${ADDRESS};base64,${btoa("x")}`,
  btoa(`A note to ${ADDRESS}`),
  ADDRESS,
])("a file given as %j is redacted", async (file) => {
  const content = [{ type: "file", file: { filename: "a.txt", file_data: file } }]
  const request = { model: "a/b", messages: [{ role: "user", content }] }
  const passed = (await screening(EMAILS)?.request(request)) as typeof request
  const sent = passed.messages[0]?.content[0]?.file.file_data ?? ""
  expect(sent).not.toBe(file)
  const [head = ""] = /^data:[^,]*,/.exec(sent) ?? []
  const data = sent.slice(head.length)
  const text = head === "" || head.includes("base64") ? safeBase64(data) : decodeURIComponent(data)
  expect(`${head} ${text}`).toContain("[EMAIL]")
  expect(`${head} ${text}`).not.toContain(ADDRESS)
})

function safeBase64(text: string): string {
  try {
    return atob(text)
  } catch {
    return text
  }
}

test("a stray percent sign in a URL does not hide the rest of its query", async () => {
  const url = `https://example.com/?share=100%&to=${encodeURIComponent(ADDRESS)}`
  const request = { model: "a/b", messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }] }
  expect(readable(await screening(EMAILS)?.request(request))).toContain("[EMAIL]")
})

test("media in base64 stay unchanged", async () => {
  const bytes = btoa(Array.from({ length: 4_096 }, (_, at) => String.fromCharCode((at * 31) % 256)).join(""))
  const image = `data:image/png;base64,${bytes}`
  const request = {
    model: "a/b",
    messages: [
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: image } },
          { type: "input_audio", input_audio: { data: bytes, format: "wav" } },
          { type: "file", file: { file_data: `data:application/zip;base64,${bytes}` } },
        ],
      },
    ],
    input_references: [{ type: "image_url", image_url: { url: image } }],
    ref_audio: bytes,
  }
  const rules = ["email", "phone", "secrets", "credit-card"].map((slug) => ({ slug, action: "redact" }))
  expect(await screening({ content_filter_builtins: rules })?.request(request)).toBe(request)
})

test("a number in free values is read as a text", async () => {
  const card = 4_111_111_111_111_111
  const call = { type: "tool_use", id: "u", name: "pay", input: { card, cents: 500, list: [card] } }
  const request = { model: "a/b", seed: card, messages: [{ role: "assistant", content: [call] }] }
  const rules = { content_filter_builtins: [{ slug: "credit-card", action: "redact" }] }
  const passed = (await screening(rules)?.request(request)) as typeof request
  expect(passed.seed).toBe(card)
  expect(passed.messages[0]?.content[0]?.input).toEqual({
    card: "[CREDIT_CARD]",
    cents: 500,
    list: ["[CREDIT_CARD]"],
  })
})

test("a match across adjacent text parts of a message is found, at any cut", async () => {
  const written = `Write to ${ADDRESS} today`
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(written.length), { minLength: 1, maxLength: 3 }),
      fc.constantFrom("text", "input_text", "output_text"),
      async (cuts, type) => {
        const places = [0, ...cuts.toSorted((one, other) => one - other), written.length]
        const content = places.slice(1).map((end, at) => ({ type, text: written.slice(places[at], end) }))
        const request = { model: "a/b", messages: [{ role: "user", content }] }
        const passed = (await screening(EMAILS)?.request(request)) as typeof request
        const text = passed.messages[0]?.content.map((part) => part.text).join("")
        expect(text).toBe("Write to [EMAIL] today")
        const block = { content_filter_builtins: [{ slug: "email", action: "block" }] }
        await expect(screening(block)?.request(request)).rejects.toMatchObject({
          metadata: { reason: "guardrail_blocked" },
        })
      },
    ),
    { numRuns: runs(1) },
  )
})

test("text parts without a match across them stay separate", async () => {
  const text = (one: string) => ({ type: "text", text: one, cache_control: { type: "ephemeral" } })
  const content = [
    text(`To ${ADDRESS}`),
    text("and"),
    { type: "image_url", image_url: { url: image } },
    text("bob@x.org"),
  ]
  const request = { model: "a/b", messages: [{ role: "user", content }] }
  const passed = (await screening(EMAILS)?.request(request)) as typeof request
  expect(passed.messages[0]?.content).toEqual([text("To [EMAIL]"), text("and"), content[2], text("[EMAIL]")])
})

test.each(["&#64;", "&#x40;", "&#0064;", "&commat;", "\\u0040", "%40"])("an address with %s is found", async (at) => {
  const request = { model: "a/b", messages: [{ role: "user", content: `Write to ${ADDRESS.replace("@", at)} today` }] }
  expect(readable(await screening(EMAILS)?.request(request))).toContain("Write to [EMAIL] today")
})

test("ordinary settings of providers contain nothing that a detector finds", async () => {
  const request = {
    model: "a/b",
    messages: [{ role: "user", content: "Hello" }],
    betas: ["interleaved-thinking-2025-05-14", "context-1m-2025-08-07", "fine-grained-tool-streaming-2025-05-14"],
    thinking: { type: "enabled", budget_tokens: 16_384 },
    context_management: {
      edits: [{ type: "clear_tool_uses_20250919", trigger: { type: "input_tokens", value: 100_000 } }],
    },
    web_search_options: { user_location: { approximate: { city: "New York", timezone: "America/New_York" } } },
    chat_template_kwargs: { enable_thinking: false },
    guided_regex: "[0-9]{3}-[0-9]{4}",
    size: "1024x1536",
    quality: "high",
    aspect_ratio: "16:9",
    output_format: "png",
    background: "transparent",
    voice: "Charlotte Smith",
    language: "en-US",
    timestamp_granularities: ["word", "segment"],
    tools: [
      {
        type: "web_search_20250305",
        name: "web_search",
        max_uses: 5,
        allowed_domains: ["example.com", "docs.example.org"],
      },
      {
        name: "at",
        input_schema: {
          type: "object",
          $schema: "https://json-schema.org/draft/2020-12/schema",
          properties: { on: { type: "string", pattern: "^\\d{4}-\\d{2}-\\d{2}$", format: "date", minLength: 10 } },
          required: ["on"],
          additionalProperties: false,
        },
      },
    ],
  }
  const names = ["email", "phone", "ssn", "credit-card", "iban", "ip-address", "person-name", "address", "secrets"]
  const builtins = names.map((slug) => ({ slug, action: "redact" }))
  const injection = { slug: "regex-prompt-injection", action: "block", scan_scope: "all_messages" }
  expect(await screening({ content_filter_builtins: [...builtins, injection] })?.request(request)).toBe(request)
})
