import { generateKeyPairSync } from "node:crypto"
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest"
import { converseEvent, converseException } from "../support/event-stream.ts"
import { eventually } from "../support/eventually.ts"
import { chunksOf } from "./client.ts"
import {
  ACCESS_KEY,
  BEDROCK_API_KEY,
  type CloudServer,
  eventStream,
  SERVICE_ACCOUNT,
  startBedrock,
  startTokenServer,
  startVertex,
} from "./cloud-servers.ts"
import { BOOTSTRAP, type Gateway, type Organization, startGateway } from "./gateway.ts"

const REGION = "eu-central-1"
const PROFILE = "eu.anthropic.claude-sonnet-4-20250514-v1:0"
const CLAUDE = "anthropic/claude-sonnet-4"
const NOVA = "amazon/nova-pro-v1"
const GEMINI = "google/gemini-2.5-flash"

let bedrock: CloudServer
let tokens: Awaited<ReturnType<typeof startTokenServer>>
let vertex: CloudServer
let gateway: Gateway
let organization: Organization
/** Everything sent to a client, which must contain no secret. */
const answers: string[] = []

beforeAll(async () => {
  bedrock = await startBedrock(REGION)
  tokens = await startTokenServer()
  vertex = await startVertex(tokens)
  gateway = await startGateway("http://127.0.0.1:9/v1", {
    LOG_CALLS: "all",
    AMAZON_BEDROCK_BASE_URL: bedrock.origin,
    AWS_ACCESS_KEY_ID: ACCESS_KEY.id,
    AWS_SECRET_ACCESS_KEY: ACCESS_KEY.secret,
    AWS_SESSION_TOKEN: ACCESS_KEY.token,
    AWS_REGION: REGION,
    GOOGLE_APPLICATION_CREDENTIALS_JSON: JSON.stringify(SERVICE_ACCOUNT),
    GOOGLE_CLOUD_LOCATION: "europe-west1",
    GOOGLE_VERTEX_BASE_URL: vertex.origin,
    GOOGLE_TOKEN_URL: tokens.origin,
  })
  organization = await gateway.newOrganization()
  bedrock.answer(({ url }) => ({ body: JSON.stringify(url.startsWith("/inference-profiles") ? PROFILES : MODELS) }))
  vertex.answer(({ url }) => ({ body: JSON.stringify(url.includes("/anthropic/") ? CLAUDES : GEMINIS) }))
  tokens.refuse("invalid_grant")
  failedDiscovery = await discover("google-vertex")
  tokens.refuse(null)
  discoveries = [await discover("amazon-bedrock"), await discover("google-vertex")]
  for (const [model, provider] of [
    [CLAUDE, "amazon-bedrock"],
    [NOVA, "amazon-bedrock"],
    [CLAUDE, "google-vertex"],
    [GEMINI, "google-vertex"],
  ]) {
    const pricing = { prompt: "0.000003", completion: "0.000015", input_cache_read: "0.0000003" }
    const body = JSON.stringify({ model, provider, pricing })
    const headers = { authorization: `Bearer ${BOOTSTRAP}`, "content-type": "application/json" }
    const response = await fetch(`${gateway.url}/api/v1/catalogue/endpoints`, { method: "PATCH", headers, body })
    expect([response.status, await response.text()]).toMatchObject([200, expect.anything()])
  }
})

afterAll(async () => {
  await gateway?.stop()
  await Promise.all([bedrock?.close(), tokens?.close(), vertex?.close()])
})

afterEach(() => {
  const seen = [...answers.splice(0), ...gateway.logs, ...gateway.runtimeLogs].join("\n")
  const inKey = SERVICE_ACCOUNT.private_key.split("\n")[1] ?? ""
  for (const secret of [ACCESS_KEY.secret, ACCESS_KEY.token, BEDROCK_API_KEY, inKey, "ya29."]) {
    expect(seen).not.toContain(secret)
  }
})

const MODELS = {
  modelSummaries: [
    { modelId: "anthropic.claude-sonnet-4-20250514-v1:0", inferenceTypesSupported: ["INFERENCE_PROFILE"] },
    { modelId: "amazon.nova-pro-v1:0", inferenceTypesSupported: ["ON_DEMAND"] },
    { modelId: "amazon.nova-pro-v1:0:24k", inferenceTypesSupported: ["PROVISIONED"] },
  ],
}
const PROFILES = {
  inferenceProfileSummaries: [{ inferenceProfileId: PROFILE, status: "ACTIVE", type: "SYSTEM_DEFINED" }],
}
const GEMINIS = {
  publisherModels: [
    { name: "publishers/google/models/gemini-2.5-flash" },
    { name: "publishers/google/models/imagen-4" },
  ],
}
const CLAUDES = { publisherModels: [{ name: "publishers/anthropic/models/claude-sonnet-4", versionId: "20250514" }] }

type Discovery = { models: number; added: number; unpriced: number; error: string | null }
let discoveries: Discovery[]
let failedDiscovery: Discovery

async function discover(provider: string): Promise<Discovery> {
  const response = await gateway.post(BOOTSTRAP, "/catalogue/discover", { providers: [provider] })
  const { data } = (await response.json()) as { data: [Discovery] }
  return data[0]
}

type Answer = {
  status: number
  text: string
  body: {
    choices: { message: Record<string, unknown>; finish_reason: string }[]
    usage: Record<string, unknown>
    error?: { code: number; message: string }
  }
}

async function call(
  provider: string,
  model: string,
  fields: Record<string, unknown> = {},
  { path = "/chat/completions", by = organization } = {},
) {
  const messages = [{ role: "user", content: "Hello" }]
  const body = { model, messages, provider: { only: [provider] }, ...fields }
  const response = await gateway.post(by.apiKey, path, body)
  const text = await response.text()
  answers.push(text)
  const isJson = response.headers.get("content-type")?.startsWith("application/json")
  return { status: response.status, text, body: (isJson ? JSON.parse(text) : {}) as Answer["body"] }
}

const lastOf = ({ requests }: CloudServer) => {
  const last = requests.at(-1)
  return { url: last?.url, headers: last?.headers, body: JSON.parse(last?.body || "{}") as Record<string, unknown> }
}

describe("the models of cloud providers", () => {
  test("are discovered under the names of other providers, without a price", () => {
    expect(discoveries).toEqual([
      expect.objectContaining({ provider: "amazon-bedrock", models: 2, added: 2, unpriced: 2, error: null }),
      expect.objectContaining({ provider: "google-vertex", models: 2, unpriced: 2, error: null }),
    ])
    const listed = [...bedrock.requests, ...vertex.requests]
      .filter(({ method }) => method === "GET")
      .map(({ url }) => url)
    expect(listed).toEqual([
      "/foundation-models?byOutputModality=TEXT",
      "/inference-profiles?maxResults=1000",
      "/v1beta1/publishers/google/models?pageSize=300",
      "/v1beta1/publishers/anthropic/models?pageSize=300",
    ])
  })

  test("are not discovered with a rejected credential, and the operator gets the error", () => {
    const error =
      "the credential cannot be used: Google gave no access token for the service account: status 400 invalid_grant."
    expect(failedDiscovery).toMatchObject({ models: 0, error })
  })
})

const USAGE = { inputTokens: 10, outputTokens: 20, totalTokens: 130, cacheReadInputTokens: 100 }
/** 10 at 3, 100 at 0.3 and 20 at 15 millionths of a dollar. */
const COST = 0.000_36

describe("Amazon Bedrock", () => {
  test("serves a signed non-streamed call, and charges its token counts", async () => {
    const content = [{ text: "Sunny" }, { toolUse: { toolUseId: "t1", name: "weather", input: { city: "Bonn" } } }]
    const message = { role: "assistant", content }
    bedrock.answer(() => ({ body: JSON.stringify({ output: { message }, stopReason: "tool_use", usage: USAGE }) }))
    const tools = [{ type: "function", function: { name: "weather", parameters: { type: "object", properties: {} } } }]
    const answer = await call("amazon-bedrock", CLAUDE, { tools, max_tokens: 50 })
    expect(answer).toMatchObject({
      status: 200,
      body: {
        model: CLAUDE,
        choices: [
          {
            finish_reason: "tool_calls",
            message: {
              content: "Sunny",
              tool_calls: [{ function: { name: "weather", arguments: '{"city":"Bonn"}' } }],
            },
          },
        ],
        usage: { prompt_tokens: 110, completion_tokens: 20, cost: COST },
      },
    })
    expect(lastOf(bedrock)).toMatchObject({
      url: `/model/${encodeURIComponent(PROFILE)}/converse`,
      body: {
        messages: [{ role: "user", content: [{ text: "Hello" }] }],
        inferenceConfig: { maxTokens: 50 },
        toolConfig: { tools: [{ toolSpec: { name: "weather" } }] },
      },
    })
  })

  test("has its binary frames streamed to the client as chunks", async () => {
    const frames = [
      converseEvent("messageStart", { role: "assistant" }),
      ...["Sun", "ny"].map((text) => converseEvent("contentBlockDelta", { contentBlockIndex: 0, delta: { text } })),
      converseEvent("contentBlockStop", { contentBlockIndex: 0 }),
      converseEvent("messageStop", { stopReason: "end_turn" }),
      converseEvent("metadata", { usage: USAGE }),
    ]
    // Cut within frames.
    const bytes = Buffer.concat(frames)
    const pieces = Array.from({ length: Math.ceil(bytes.length / 37) }, (_, at) =>
      bytes.subarray(at * 37, at * 37 + 37),
    )
    bedrock.answer(() => ({ type: "application/vnd.amazon.eventstream", body: pieces }))
    const { text } = await call("amazon-bedrock", NOVA, { stream: true })
    const chunks = chunksOf(text)
    expect(chunks.map((chunk) => chunk.choices[0]?.delta?.content ?? "").join("")).toBe("Sunny")
    expect(chunks.at(-1)).toMatchObject({ usage: { prompt_tokens: 110, completion_tokens: 20, cost: COST } })
    expect(text.trimEnd().endsWith("data: [DONE]")).toBe(true)
    expect(lastOf(bedrock).url).toBe("/model/amazon.nova-pro-v1%3A0/converse-stream")
  })

  test.each([
    ["an exception", converseException("throttlingException", "Too many tokens."), 429],
    ["a frame with a wrong checksum", Uint8Array.from([...converseEvent("messageStop", {}).slice(0, -1), 0]), 502],
  ])(
    "that breaks off with %s ends the stream with an error, and delivered content is charged",
    async (_, ending, code) => {
      const by = await gateway.newOrganization()
      bedrock.answer(() => ({
        type: "application/vnd.amazon.eventstream",
        body: [
          converseEvent("messageStart", { role: "assistant" }),
          converseEvent("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "Sunny" } }),
          ending,
        ],
      }))
      const chunks = chunksOf((await call("amazon-bedrock", NOVA, { stream: true }, { by })).text)
      expect(chunks.at(-1)).toMatchObject({ error: { code }, choices: [{ finish_reason: "error" }] })
      const rows = await eventually(async () => {
        const found = await gateway.rows(by.id)
        expect(found).toHaveLength(1)
        return found
      })
      expect(rows[0]?.cost_nano).toBeGreaterThan(0)
    },
  )

  test("with a guardrail intervention ends with content_filter", async () => {
    const message = { role: "assistant", content: [{ text: "I cannot help with that." }] }
    bedrock.answer(() => ({
      body: JSON.stringify({ output: { message }, stopReason: "guardrail_intervened", usage: USAGE }),
    }))
    const { body } = await call("amazon-bedrock", NOVA)
    expect(body.choices[0]).toMatchObject({
      finish_reason: "content_filter",
      native_finish_reason: "guardrail_intervened",
    })
  })

  test.each([
    [400, "Input is too long for requested model.", 400, /Input is too long/],
    [403, `Not for ${ACCESS_KEY.token}`, 502, /returned status 403/],
    [424, "The model failed.", 502, /returned status 424/],
    [429, `Slow down, ${ACCESS_KEY.token}.`, 429, /Slow down, \[redacted\]/],
  ])("with status %i %s returns an error %i", async (status, message, code, text) => {
    bedrock.answer(() => ({ status, body: JSON.stringify({ message }) }))
    const { body } = await call("amazon-bedrock", NOVA)
    expect(body.error).toMatchObject({ code })
    expect(body.error?.message).toMatch(text)
  })

  test("is called with a workspace's API key or access key", async () => {
    const message = { role: "assistant", content: [{ text: "Hi" }] }
    bedrock.answer(() => ({ body: JSON.stringify({ output: { message }, stopReason: "end_turn", usage: USAGE }) }))
    const credentials = {
      accessKeyId: ACCESS_KEY.id,
      secretAccessKey: ACCESS_KEY.secret,
      sessionToken: ACCESS_KEY.token,
      region: REGION,
    }
    for (const key of [BEDROCK_API_KEY, JSON.stringify(credentials)]) {
      const { apiKey, managementKey } = await gateway.newOrganization()
      await gateway.post(managementKey, "/byok", { provider: "amazon-bedrock", key })
      const body = { model: NOVA, messages: [{ role: "user", content: "Hello" }] }
      expect((await gateway.post(apiKey, "/chat/completions", body)).status).toBe(200)
      const { authorization } = lastOf(bedrock).headers ?? {}
      expect(authorization).toMatch(key === BEDROCK_API_KEY ? /^Bearer bedrock-api-key/ : /^AWS4-HMAC-SHA256/)
    }
  })

  test("rejects a workspace's credential in another format with a hint", async () => {
    const { apiKey, managementKey } = await gateway.newOrganization()
    await gateway.post(managementKey, "/byok", {
      provider: "amazon-bedrock",
      key: '{"accessKeyId":"AKIDEXAMPLE"}',
      is_byok_only: true,
    })
    const response = await gateway.post(apiKey, "/chat/completions", {
      model: NOVA,
      messages: [{ role: "user", content: "Hi" }],
    })
    expect(await response.json()).toMatchObject({
      error: { code: 502, message: expect.stringMatching(/must be an API key, or JSON.*secretAccessKey is missing/) },
    })
  })
})

const PARENT = "/v1/projects/acme-prod/locations/europe-west1"

describe("Google Vertex", () => {
  test("serves Gemini in OpenAI's format, with one token exchange for ten concurrent calls", async () => {
    const message = { role: "assistant", content: "Sunny" }
    const usage = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 }
    vertex.answer(() => ({ body: JSON.stringify({ choices: [{ index: 0, message, finish_reason: "stop" }], usage }) }))
    const calls = await Promise.all(Array.from({ length: 10 }, () => call("google-vertex", GEMINI)))
    expect(calls.map(({ status }) => status)).toEqual(Array(10).fill(200))
    expect(calls[0]?.body).toMatchObject({ model: GEMINI, usage: { cost: 0.000_33 } })
    expect(lastOf(vertex)).toMatchObject({
      url: `${PARENT}/endpoints/openapi/chat/completions`,
      body: { model: GEMINI },
    })
    // One for the failed list of models, and one for everything since.
    expect(tokens.requests).toHaveLength(2)
    expect(tokens.issued).toHaveLength(1)
  })

  test("streams Gemini's chunks", async () => {
    const chunk = (delta: object, finish: string | null = null) => ({
      id: "g",
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta, finish_reason: finish }],
    })
    const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 }
    vertex.answer(() =>
      eventStream([
        chunk({ role: "assistant", content: "Sun" }),
        chunk({ content: "ny" }),
        { ...chunk({}, "stop"), usage },
        "[DONE]",
      ]),
    )
    const chunks = chunksOf((await call("google-vertex", GEMINI, { stream: true })).text)
    expect(chunks.map(({ choices }) => choices[0]?.delta?.content ?? "").join("")).toBe("Sunny")
    expect(chunks.at(-1)).toMatchObject({ usage: { cost: 0.000_06 } })
  })

  const MESSAGE = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude-sonnet-4-20250514",
    content: [{ type: "text", text: "Sunny" }],
    stop_reason: "end_turn",
    usage: { input_tokens: 10, cache_read_input_tokens: 100, output_tokens: 20 },
  }

  test.each(["/chat/completions", "/messages"])("serves Claude at the path of its publisher for %s", async (path) => {
    vertex.answer(() => ({ body: JSON.stringify(MESSAGE) }))
    const { status, text } = await call("google-vertex", CLAUDE, { max_tokens: 50 }, { path })
    expect([status, text]).toEqual([200, expect.stringContaining("Sunny")])
    const { url, body, headers } = lastOf(vertex)
    expect(url).toBe(`${PARENT}/publishers/anthropic/models/claude-sonnet-4@20250514:rawPredict`)
    expect(body).toMatchObject({ anthropic_version: "vertex-2023-10-16", max_tokens: 50 })
    expect(body).not.toHaveProperty("model")
    expect(headers).not.toHaveProperty("x-api-key")
  })

  test("streams Claude's events, and charges their token counts", async () => {
    vertex.answer(() =>
      eventStream(
        [
          { type: "message_start", message: { ...MESSAGE, content: [], stop_reason: null } },
          { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
          { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Sunny" } },
          { type: "content_block_stop", index: 0 },
          { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 20 } },
          { type: "message_stop" },
        ],
        true,
      ),
    )
    const chunks = chunksOf((await call("google-vertex", CLAUDE, { stream: true })).text)
    expect(chunks.map(({ choices }) => choices[0]?.delta?.content ?? "").join("")).toBe("Sunny")
    expect(chunks.at(-1)).toMatchObject({ usage: { prompt_tokens: 110, cost: COST } })
    expect(lastOf(vertex)).toMatchObject({
      url: `${PARENT}/publishers/anthropic/models/claude-sonnet-4@20250514:streamRawPredict`,
      body: { stream: true },
    })
  })

  test("returns Google's error list with its message and the token redacted", async () => {
    const error = { code: 400, message: `Bad temperature with ${tokens.issued[0]}`, status: "INVALID_ARGUMENT" }
    vertex.answer(() => ({ status: 400, body: JSON.stringify([{ error }]) }))
    const { body } = await call("google-vertex", GEMINI)
    expect(body.error).toMatchObject({ code: 400, message: "Bad temperature with [redacted]" })
  })

  test("with a workspace's rejected service account returns an error to that workspace only", async () => {
    const { apiKey, managementKey } = await gateway.newOrganization()
    // The same account name and key id with another private key: it gets no cached token.
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 })
    const forged = { ...SERVICE_ACCOUNT, private_key: privateKey.export({ type: "pkcs8", format: "pem" }).toString() }
    await gateway.post(managementKey, "/byok", {
      provider: "google-vertex",
      key: JSON.stringify(forged),
      is_byok_only: true,
    })
    const response = await gateway.post(apiKey, "/chat/completions", {
      model: GEMINI,
      messages: [{ role: "user", content: "Hi" }],
    })
    expect(await response.json()).toMatchObject({
      error: {
        code: 502,
        message:
          "The credential of Google Vertex cannot be used: Google gave no access token for the service account: status 400 invalid_grant.",
      },
    })
    expect((await call("google-vertex", GEMINI)).status).toBe(400)
  })
})
