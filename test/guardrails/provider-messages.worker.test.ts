import { exports } from "cloudflare:workers"
import { afterEach, describe, expect, test, vi } from "vitest"
import { chunk, DONE, good, mockProvider, sse } from "../support/mock-provider.ts"
import { newReplicaModel } from "../support/replicas.ts"
import { expectJson, newKey, newWorkspace, operatorClient, receiptOf, type Workspace } from "../support/world.ts"

/** Providers quote requests and responses in their errors and comments, so guardrails read those as well. */

type Json = Record<string, unknown>
type Action = "redact" | "block" | "flag"

const SECRET = "ZEBRA-4711"
const front = (exports as unknown as { default: Fetcher }).default

let stop = () => {}
afterEach(() => {
  stop()
  vi.restoreAllMocks()
})

function play(answer: Parameters<typeof mockProvider>[0]) {
  const provider = mockProvider(answer)
  stop = provider.stop
  return provider.upstreamCalls
}

/** A workspace with a key whose guardrail filters the secret. */
async function guarded(action: Action, pattern = "ZEBRA-\\d+"): Promise<Workspace> {
  const workspace = await newWorkspace()
  const rule = { name: "Rail", content_filters: [{ pattern, action, label: "Zebra" }] }
  const { data } = await expectJson<{ data: { id: string } }>(201, workspace.manage.post("/guardrails", rule))
  const { key, hash } = await newKey(workspace)
  await expectJson(200, workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, { key_hashes: [hash] }))
  return { ...workspace, key }
}

function post({ key }: Pick<Workspace, "key">, path: string, body: Json): Promise<Response> {
  const headers = {
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
    "x-service-metadata": "enabled",
  }
  return front.fetch(`https://gateway.test/api/${path}`, { method: "POST", headers, body: JSON.stringify(body) })
}

const MODEL = "played/m0"
const MESSAGES = [{ role: "user", content: "Hi" }]
const CONTENTS = [{ role: "user", parts: [{ text: "Hi" }] }]

/** Requests of every format, whole and streamed. */
const CALLS: [name: string, path: string, body: Json][] = [
  ["chat", "v1/chat/completions", { model: MODEL, messages: MESSAGES }],
  ["completions", "v1/completions", { model: MODEL, prompt: "Hi" }],
  ["responses", "v1/responses", { model: MODEL, input: "Hi" }],
  ["messages", "v1/messages", { model: MODEL, messages: MESSAGES, max_tokens: 50 }],
  ["gemini", `v1beta/models/${MODEL}:generateContent`, { contents: CONTENTS }],
  ["server tools", "v1/chat/completions", { model: MODEL, messages: MESSAGES, tools: [{ type: "service:datetime" }] }],
]
const STREAMS = CALLS.map(([name, path, body]): [string, string, Json] =>
  name === "gemini"
    ? [name, path.replace("generateContent", "streamGenerateContent?alt=sse"), body]
    : [name, path, { ...body, stream: true }],
)
/** Paths and bodies of other models, by the output of the model. */
const PLAIN: [output: string, path: string, body: Json][] = [
  ["embeddings", "v1/embeddings", { input: "Hi" }],
  ["rerank", "v1/rerank", { query: "Hi", documents: ["a"] }],
  ["decisions", "v1/moderations", { input: "Hi" }],
  ["image", "v1/images/generations", { prompt: "Hi" }],
  ["speech", "v1/audio/speech", { input: "Hi" }],
  ["transcription", "v1/audio/transcriptions", { input_audio: { data: "SUQz", format: "mp3" } }],
  ["video", "v1/videos", { prompt: "Hi" }],
]

let made = 0

/** A model of this output at one provider. */
async function newModel(output: string): Promise<string> {
  const id = `acme/messages-${output}-${(made += 1)}`
  const endpoints = [{ provider: "replica-a", upstream_id: "up", pricing: { prompt: "0", completion: "0" } }]
  const models = [{ id, name: id, output_modalities: [output], endpoints }]
  await expectJson(200, operatorClient.put("/catalogue", { models }))
  return id
}

const refuse = (status: number) =>
  Response.json({ error: { message: `Invalid prompt: ${SECRET} is bad`, code: `c ${SECRET}` } }, { status })

describe("an error of a provider", () => {
  test.each([...CALLS, ...STREAMS])("is redacted: %s", async (_name, path, body) => {
    const workspace = await guarded("redact")
    play(() => refuse(400))
    const response = await post(workspace, path, body)
    const text = await response.text()
    expect(response.status, text).toBe(400)
    expect(text).toContain("Invalid prompt: [Zebra] is bad")
    expect(text).not.toContain(SECRET)
  })

  test.each([...CALLS, ...STREAMS])(
    "is withheld if a filter blocks it, with its status: %s",
    async (_name, path, body) => {
      const workspace = await guarded("block")
      play(() => refuse(422))
      const response = await post(workspace, path, body)
      const text = await response.text()
      expect(response.status, text).toBe(422)
      expect(text).toContain("returned status 422. A guardrail of this key blocks its message.")
      expect(text).not.toContain(SECRET)
    },
  )

  test.each(CALLS)("in a response with status 200 is redacted: %s", async (_name, path, body) => {
    const workspace = await guarded("redact")
    play(() => refuse(200))
    const text = await (await post(workspace, path, body)).text()
    expect(text).not.toContain(SECRET)
  })

  test.each(STREAMS)("in a stream is redacted at its start and later: %s", async (_name, path, body) => {
    const workspace = await guarded("redact")
    const error = `data: ${JSON.stringify({ error: { message: `Bad output: ${SECRET}`, code: 400, type: SECRET } })}\n\n`
    for (const before of [[], [chunk({ content: "Hello" })]]) {
      play(() => sse([...before, error, DONE]))
      const text = await (await post(workspace, path, body)).text()
      stop()
      expect(text).toContain("Bad output: [Zebra]")
      expect(text).not.toContain(SECRET)
    }
  })

  test.each(STREAMS)("in a started stream is withheld if a filter blocks it: %s", async (_name, path, body) => {
    const workspace = await guarded("block")
    const error = `data: ${JSON.stringify({ error: { message: `Bad output: ${SECRET}`, code: 400 } })}\n\n`
    play(() => sse([chunk({ content: "Hello" }), error, DONE]))
    const text = await (await post(workspace, path, body)).text()
    expect(text).toContain("A guardrail of this key blocks its message.")
    expect(text).not.toContain(SECRET)
  })

  test("is filtered before it is cut, in the record and the metadata of its call as well", async () => {
    const workspace = await guarded("redact", "ZEBRA-\\d+-END")
    play(() => Response.json({ error: { message: `${"x".repeat(1_995)}ZEBRA-1-END` } }, { status: 400 }))
    const response = await post(workspace, "v1/chat/completions", { model: MODEL, messages: MESSAGES })
    const text = await response.clone().text()
    expect(text).toContain("x[Zeb")
    expect(text).not.toContain("ZEBRA")
    stop()
    expect(JSON.stringify(await receiptOf(workspace, response))).not.toContain("ZEBRA")
  })

  test("that is blocked leads to the next provider, whose response is not blocked", async () => {
    const workspace = await guarded("block")
    const model = newReplicaModel()
    const calls = play(() =>
      calls.length === 1 ? Response.json({ error: { message: SECRET } }, { status: 503 }) : sse(good("All is well")),
    )
    const response = await post(workspace, "v1/chat/completions", { model, messages: MESSAGES, stream: true })
    const text = await response.text()
    expect(calls).toHaveLength(2)
    expect(text).toContain('"content":"ell"')
    expect(text).not.toContain("guardrail_blocked")
    expect(text).not.toContain(SECRET)
    // The finding is reported, and not as that of a blocked call.
    expect(text).toContain('"patterns":["Zebra"]')
    expect(text).toContain("redacted in a message of the provider: Zebra")
    const call = workspace.manage.get(`/calls/${response.headers.get("x-generation-id")}`)
    const { data } = await expectJson<{ data: { guardrails: Json[] } }>(200, call)
    expect(data.guardrails).toMatchObject([{ name: "Rail", action: "redact", patterns: ["Zebra"] }])
  })

  test("and the response are both blocked, and reported as blocked", async () => {
    const workspace = await guarded("block")
    const model = newReplicaModel()
    const calls = play(() =>
      calls.length === 1 ? Response.json({ error: { message: SECRET } }, { status: 503 }) : sse(good(SECRET)),
    )
    const text = await (await post(workspace, "v1/chat/completions", { model, messages: MESSAGES })).text()
    expect(calls).toHaveLength(2)
    expect(text).toContain("guardrail_blocked")
    expect(text).toContain('"summary":"blocked: Zebra"')
    expect(text).toContain('"action":"block"')
  })

  test.each(PLAIN)("of a model for other output is redacted: %s", async (output, path, body) => {
    const workspace = await guarded("redact")
    const model = await newModel(output)
    for (const status of [400, 200]) {
      vi.spyOn(globalThis, "fetch").mockImplementation(() => Promise.resolve(refuse(status)))
      const text = await (await post(workspace, path, { ...body, model })).text()
      expect(text).not.toContain(SECRET)
      if (status === 400) expect(text).toContain("[Zebra]")
    }
  })

  test.each([
    ["redact", "Not [Zebra]."],
    ["block", "The provider reported an error. A guardrail of this key blocks its message."],
  ] as const)("in a polled video: %s", async (action, error) => {
    const workspace = await guarded(action)
    const model = await newModel("video")
    vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) =>
      new Request(input, init).method === "POST"
        ? Response.json({ id: "v1" })
        : Response.json({ id: "v1", status: "failed", error: { message: `Not ${SECRET}.` } }),
    )
    const { id } = await expectJson<{ id: string }>(202, post(workspace, "v1/videos", { model, prompt: "Hi" }))
    const headers = { authorization: `Bearer ${workspace.key}` }
    const polled = front.fetch(`https://gateway.test/api/v1/videos/${id}`, { headers })
    expect(await expectJson(200, polled)).toMatchObject({ status: "failed", error })
  })

  test("is unchanged if filters only flag", async () => {
    const workspace = await guarded("flag")
    play(() => refuse(400))
    const text = await (await post(workspace, "v1/chat/completions", { model: MODEL, messages: MESSAGES })).text()
    expect(text).toContain(SECRET)
  })
})

describe("a comment of a provider", () => {
  const COMMENTED = [
    `: ${SECRET}\n\n`,
    chunk({ role: "assistant", content: "Hel" }),
    `: ${SECRET}\n\n`,
    `: ${SECRET}\nid: ${SECRET}\nx-field: ${SECRET}\n${chunk({ content: "lo" })}`,
    `: ${SECRET}\nid: ${SECRET}\n${chunk({ content: "lo" })}`,
    `: ${SECRET}\n${chunk({ tool_calls: [] })}`,
    `: ${SECRET}\n${chunk({}, "stop")}`,
    `: ${SECRET}\n\n`,
    DONE,
  ]

  test.each(STREAMS)("is not relayed if a filter applies: %s", async (_name, path, body) => {
    const workspace = await guarded("redact")
    play(() => sse(COMMENTED))
    const response = await post(workspace, path, body)
    const text = await response.text()
    expect(response.status, text).toBe(200)
    expect(text).toContain("lo")
    expect(text).not.toContain(SECRET)
  })

  test("is a heartbeat for the client, so that the connection stays open", async () => {
    const workspace = await guarded("redact")
    play(() => sse([chunk({ content: "Hello" }), ": working\n\n", null]))
    const { body } = await post(workspace, "v1/chat/completions", { model: MODEL, messages: MESSAGES, stream: true })
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = ""
    while (!text.includes(": keepalive")) text += (await reader?.read())?.value ?? ""
    expect(text).not.toContain("working")
    await reader?.cancel()
  })

  test("is never sent to Google's clients, which take it for a broken event", async () => {
    const workspace = await newWorkspace()
    play(() => sse(COMMENTED))
    const text = await (
      await post(workspace, `v1beta/models/${MODEL}:streamGenerateContent?alt=sse`, { contents: CONTENTS })
    ).text()
    expect(text).not.toMatch(/^:/m)
    expect(text).toContain("STOP")
  })
})
