import { exports } from "cloudflare:workers"
import { afterEach, describe, expect, test, vi } from "vitest"
import { decodeBase64 } from "../../src/support/text/encoding.ts"
import {
  newWorkspace,
  openHolds,
  operatorClient,
  type Receipt,
  receiptOf,
  expectJson,
  type Workspace,
} from "../support/world.ts"

type Json = Record<string, unknown>
type Failure = { error: { code: number; message: string } }

const BASE = "http://gateway.test/api/v1"
const SOUND = new Uint8Array(40_000).map((_, at) => at % 251)

const REQUESTS = {
  "/rerank": { model: "sim/rerank", query: "the cat", documents: ["a dog", "the cat"] },
  "/moderations": { model: "sim/moderation", input: "How are you?" },
  "/images": { model: "sim/image", prompt: "a dot" },
  "/images/generations": { model: "sim/image", prompt: "a dot" },
  "/audio/speech": { model: "sim/speech", input: "Hello there" },
  "/audio/transcriptions": { model: "sim/transcribe", input_audio: { data: toBase64(SOUND), format: "mp3" } },
  "/videos": { model: "sim/video", prompt: "waves" },
} satisfies Record<string, Json>
type Endpoint = keyof typeof REQUESTS
const routes = Object.keys(REQUESTS) as Endpoint[]

function toBase64(bytes: Uint8Array): string {
  return btoa(bytes.reduce((text, byte) => text + String.fromCharCode(byte), ""))
}

const send = (workspace: Workspace, endpoint: Endpoint, more: Json = {}) =>
  workspace.as.post(endpoint, { ...REQUESTS[endpoint], ...more })

function sendForm({ key }: Workspace, fields: Record<string, string | File>): Promise<Response> {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  const init = { method: "POST", headers: { authorization: `Bearer ${key}` }, body: form }
  return (exports as unknown as { default: Fetcher }).default.fetch(`${BASE}/audio/transcriptions`, init)
}

/** The receipt of a successful call that left no hold. */
async function chargedFor(workspace: Workspace, response: Response): Promise<Receipt & { api_type: string }> {
  const body = new TextDecoder().decode(await response.arrayBuffer())
  expect(response.status, body).toBeLessThan(300)
  expect(await openHolds(workspace)).toEqual([])
  return (await receiptOf(workspace, response)) as Receipt & { api_type: string }
}

const RANKED = {
  data: [
    { index: 1, score: 0.9 },
    { index: 0, score: 0.2 },
  ],
}
const unknown = (message: string) => Response.json({ detail: message }, { status: 400 })
const scored = (index: number, score: number) => ({ index, relevance_score: score })

describe("a response", () => {
  test("of /rerank sorts documents by relevance and adds the text that the provider left out", async () => {
    const answer = await expectJson(
      200,
      send(await newWorkspace(), "/rerank", { documents: ["a dog", { text: "the cat" }] }),
    )
    expect(answer).toMatchObject({
      model: "sim/rerank",
      provider: "Embedded",
      results: [
        { index: 1, relevance_score: 1, document: { text: "the cat" } },
        { index: 0, relevance_score: 0, document: { text: "a dog" } },
      ],
      usage: { search_units: 1, cost: 0.001 },
    })
  })

  test.each(["/images", "/images/generations"] as const)("of %s has n images", async (endpoint) => {
    type Made = { created: number; data: { b64_json: string }[]; usage: Json }
    const { data, usage, created } = await expectJson<Made>(200, send(await newWorkspace(), endpoint, { n: 3 }))
    expect(data.map(({ b64_json: picture }) => decodeBase64(picture)?.[1])).toEqual([0x50, 0x50, 0x50])
    expect(created).toBeGreaterThan(0)
    expect(usage).toMatchObject({ completion_tokens: 0, cost: 0.06, is_byok: false })
    // OpenAI's names, which its clients require.
    const prompt = usage["prompt_tokens"]
    const details = { text_tokens: prompt, image_tokens: 0 }
    expect(usage).toMatchObject({ input_tokens: prompt, input_tokens_details: details, output_tokens: 0 })
  })

  test("of /audio/speech keeps its bytes and type, with the generation id in a header", async () => {
    const workspace = await newWorkspace()
    const wav = await send(workspace, "/audio/speech")
    expect(wav.headers.get("content-type")).toBe("audio/wav")
    expect(wav.headers.get("x-generation-id")).toMatch(/^gen-/)
    const pcm = await send(workspace, "/audio/speech", { response_format: "pcm" })
    expect(pcm.headers.get("content-type")).toBe("audio/pcm")
    const [full, samples] = [new Uint8Array(await wav.arrayBuffer()), new Uint8Array(await pcm.arrayBuffer())]
    expect(samples.byteLength).toBeGreaterThan(1_000)
    expect(full.subarray(44)).toEqual(samples)
  })

  test("of /audio/transcriptions is the same for a form and for JSON", async () => {
    const workspace = await newWorkspace()
    const file = new File([SOUND], "a.mp3", { type: "audio/mp3" })
    const fromForm = await expectJson<{ text: string }>(200, sendForm(workspace, { model: "sim/transcribe", file }))
    expect(fromForm.text).toBe("40000 bytes of audio/mp3")
    expect(await expectJson(200, send(workspace, "/audio/transcriptions"))).toEqual(fromForm)
  })

  test("of /videos is created, polled and downloaded", async () => {
    const workspace = await newWorkspace()
    const ordered = await send(workspace, "/videos", { duration: 5 })
    const order = await expectJson<{ id: string; polling_url: string; generation_id: string }>(202, ordered)
    expect(order).toMatchObject({ status: "pending", usage: { cost: 0.25 } })
    expect(order.generation_id).toBe(ordered.headers.get("x-generation-id"))
    expect(order.polling_url).toBe(`${BASE}/videos/${order.id}`)
    const done = await expectJson(200, workspace.as.get(`/videos/${order.id}`))
    expect(done).toMatchObject({ id: order.id, status: "completed", unsigned_urls: [`${order.polling_url}/content`] })
    const video = await workspace.as.get(`/videos/${order.id}/content`)
    expect(video.headers.get("content-type")).toBe("video/mp4")
    expect(new TextDecoder().decode(await video.arrayBuffer())).toContain("ftyp")
    const ofVideo = (index: string) => workspace.as.get(`/videos/${order.id}/content?index=${index}`)
    expect((await ofVideo("0")).status).toBe(200)
    await expectJson(404, ofVideo("1"))
    for (const index of ["-1", "1.5", "x"]) await expectJson(400, ofVideo(index))
  })

  test("of /videos/{id} is 404 for a video of another organization and for an unknown id", async () => {
    const { id } = await expectJson<{ id: string }>(202, send(await newWorkspace(), "/videos"))
    const other = await newWorkspace()
    for (const path of [id, `${id}/content`, `${id}0`, "vid_x", "video_1"]) {
      await expectJson(404, other.as.get(`/videos/${path}`))
    }
  })
})

describe("the charge", () => {
  test.each([
    ["a request", "/rerank", { documents: ["a", "b", "c"] }, "rerank", 0.001],
    ["nothing", "/moderations", {}, "decisions", 0],
    ["each image", "/images", { n: 2 }, "image", 0.04],
    ["each character", "/audio/speech", { input: "0123456789" }, "tts", 0.000_15],
    ["each character of instructions", "/audio/speech", { input: "01234", instructions: "56789" }, "tts", 0.000_15],
    ["each second of audio", "/audio/transcriptions", {}, "stt", 0.000_3],
    ["each second of a video", "/videos", { duration: 4 }, "video", 0.2],
    ["each second in OpenAI's format", "/videos", { seconds: "8" }, "video", 0.4],
  ] as const)("is %s: %s", async (_, endpoint, more, apiType, cost) => {
    const workspace = await newWorkspace()
    const receipt = await chargedFor(workspace, await send(workspace, endpoint, more))
    expect(receipt).toMatchObject({ api_type: apiType, total_cost: cost, ending: "complete" })
  })

  test("is limited by the balance: the call returns 402 and leaves no hold", async () => {
    for (const [endpoint, more] of [
      ["/images", { n: 10 }],
      ["/videos", { duration: 100 }],
    ] as const) {
      const lowBalance = await newWorkspace(0.05)
      await expectJson(402, send(lowBalance, endpoint, more))
      expect(await openHolds(lowBalance)).toEqual([])
    }
  })
})

describe("a rejection", () => {
  test.each(routes)("%s: a model with another output returns 404 with its output modality", async (endpoint) => {
    const { error } = await expectJson<Failure>(404, send(await newWorkspace(), endpoint, { model: "sim/echo" }))
    expect(error.message).toContain("sim/echo makes text")
  })

  test.each(routes)("%s: an unknown model returns 404", async (endpoint) => {
    const { error } = await expectJson<Failure>(404, send(await newWorkspace(), endpoint, { model: "sim/none" }))
    expect(error.message).toContain("There is no model sim/none")
  })

  test.each([
    ["/rerank", { query: "" }, "query"],
    ["/rerank", { documents: [] }, "documents"],
    ["/rerank", { documents: [1] }, "documents[0]"],
    ["/rerank", { top_n: 0 }, "top_n"],
    ["/moderations", { input: [] }, "input"],
    ["/moderations", { input: ["a", 1] }, "input[1]"],
    ["/moderations", { input: [{ type: "audio" }] }, "input[0].type"],
    ["/images", { prompt: undefined }, "prompt"],
    ["/images", { n: 11 }, "n"],
    ["/images", { stream: true }, "stream"],
    ["/images", { aspect_ratio: "16x9" }, "aspect_ratio"],
    ["/images", { background: "black" }, "background"],
    ["/images", { output_format: "gif" }, "output_format"],
    ["/images", { quality: "best" }, "quality"],
    ["/images", { resolution: "1080p" }, "resolution"],
    ["/images/generations", { output_compression: 101 }, "output_compression"],
    ["/images/generations", { svg: { model: "gpt-5.6" } }, "svg"],
    ["/audio/speech", { input: "" }, "input"],
    ["/audio/speech", { speed: 5 }, "speed"],
    ["/audio/speech", { model: undefined }, "model"],
    ["/audio/transcriptions", { input_audio: undefined }, "input_audio"],
    ["/audio/transcriptions", { input_audio: { data: "?", format: "wav" } }, "input_audio.data"],
    ["/audio/transcriptions", { temperature: 2 }, "temperature"],
    ["/audio/transcriptions", { response_format: "diarized_json" }, "response_format"],
    ["/videos", { duration: 0 }, "duration"],
    ["/videos", { n: 2 }, "n"],
    ["/videos", { aspect_ratio: "auto" }, "aspect_ratio"],
    ["/videos", { resolution: "1440p" }, "resolution"],
    ["/videos", { callback_url: "https://x.test" }, "callback_url"],
  ] as const)("%s: %j is rejected with a message that names %s", async (endpoint, more, field) => {
    const { error } = await expectJson<Failure>(400, send(await newWorkspace(), endpoint, more))
    expect(error.message.startsWith(`${field}:`), error.message).toBe(true)
  })

  const file = new File([SOUND], "a.wav", { type: "audio/wav" })

  test.each([
    ["no file", { model: "sim/transcribe" }, "file"],
    ["text instead of a file", { model: "sim/transcribe", file: "sound" }, "file"],
    ["no model", { file }, "model"],
    ["a temperature that is not a number", { model: "sim/transcribe", file, temperature: "warm" }, "temperature"],
    ["a provider that is not JSON", { model: "sim/transcribe", file, provider: "{" }, "provider"],
  ])("a form with %s is rejected with a message that names the field", async (_, fields, field) => {
    const { error } = await expectJson<Failure>(400, sendForm(await newWorkspace(), fields))
    expect(error.message.startsWith(`${field}:`), error.message).toBe(true)
  })

  test("a body that is neither JSON nor a form returns 415", async () => {
    const { as } = await newWorkspace()
    await expectJson(415, as.call("POST", "/audio/transcriptions", "x", { "content-type": "audio/wav" }))
  })
})

describe("providers", () => {
  let made = 0
  afterEach(() => vi.restoreAllMocks())

  /** A model of the operator that these providers serve in this order. */
  async function newModel(output: string, providers: readonly string[], pricing: Json = {}): Promise<string> {
    const id = `acme/${output}-${(made += 1)}`
    const endpoints = providers.map((provider) => ({
      provider,
      upstream_id: "up",
      pricing: { prompt: "0", completion: "0", ...pricing },
    }))
    await expectJson(
      200,
      operatorClient.put("/catalogue", { models: [{ id, name: id, output_modalities: [output], endpoints }] }),
    )
    return id
  }

  type UpstreamRequest = { url: string; method: string; headers: Headers; json?: unknown; form?: FormData }

  /** Handles every outgoing fetch. */
  function respondWith(answer: (calls: UpstreamRequest) => Response): UpstreamRequest[] {
    const calls: UpstreamRequest[] = []
    vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
      const request = new Request(input, init)
      const { url, method, headers } = request
      const type = headers.get("content-type") ?? ""
      const one: UpstreamRequest = { url, method, headers }
      // Read here: a body belongs to the request that sent it.
      if (type.startsWith("multipart/")) one.form = await request.formData()
      else if (type !== "") one.json = await request.json()
      calls.push(one)
      return answer(one)
    })
    return calls
  }

  const outputs: Record<Endpoint, string> = {
    "/rerank": "rerank",
    "/moderations": "decisions",
    "/images": "image",
    "/images/generations": "image",
    "/audio/speech": "speech",
    "/audio/transcriptions": "transcription",
    "/videos": "video",
  }

  test.each(routes)("%s: a failure causes failover to the next provider, and costs nothing", async (endpoint) => {
    const workspace = await newWorkspace()
    const model = await newModel(outputs[endpoint], ["replica-a", "replica-b"], { request: "0.01" })
    const calls = respondWith(() => Response.json({ error: { message: "Busy", code: 503 } }, { status: 503 }))
    const response = await send(workspace, endpoint, { model })
    await expectJson(503, response.clone())
    expect(calls).toHaveLength(2)
    expect(await receiptOf(workspace, response)).toMatchObject({ total_cost: 0, ending: "refused" })
    expect(await openHolds(workspace)).toEqual([])
  })

  test("whose moderations lack flagged get it from the categories", async () => {
    const workspace = await newWorkspace()
    const model = await newModel("decisions", ["replica-a"], { prompt: "0.000001" })
    const result = { categories: { hate: true, pii: false }, category_scores: { hate: 0.9, pii: 0.1 } }
    const calls = respondWith(() =>
      Response.json({ id: "m-1", model: "up", results: [result], usage: { prompt_tokens: 7, total_tokens: 7 } }),
    )
    const response = await send(workspace, "/moderations", { model, input: ["Some text"], user: "u" })
    expect(await response.clone().json()).toMatchObject({ model, results: [{ ...result, flagged: true }] })
    expect(calls).toMatchObject([
      { url: expect.stringMatching(/\/moderations$/), json: { model: "up", input: ["Some text"] } },
    ])
    expect(await chargedFor(workspace, response)).toMatchObject({ api_type: "decisions", total_cost: 0.000_007 })
  })

  test("is asked for OpenAI's model if a moderation names none", async () => {
    const { error } = await expectJson<Failure>(404, (await newWorkspace()).as.post("/moderations", { input: "Hi" }))
    expect(error.message).toContain("openai/omni-moderation-latest")
  })

  test.each([
    ["/rerank", { results: "none" }],
    ["/rerank", { results: [{ index: "0", relevance_score: 1 }] }],
    ["/moderations", { results: [] }],
    ["/moderations", { results: [{ flagged: false }] }],
    ["/images", { created: 1, data: [] }],
    ["/images", { created: 1, data: [{ note: "later" }] }],
    ["/audio/speech", { audio: "in words" }],
    ["/audio/transcriptions", { words: [] }],
    ["/videos", { status: "queued" }],
  ] as const)("%s: a 200 without a result (%j) is a failure, and free", async (endpoint, body) => {
    const workspace = await newWorkspace()
    const model = await newModel(outputs[endpoint], ["replica-a"], { request: "0.01" })
    respondWith(() => Response.json(body))
    const response = await send(workspace, endpoint, { model })
    await expectJson(502, response.clone())
    expect(await receiptOf(workspace, response)).toMatchObject({ total_cost: 0, ending: "refused" })
  })

  test.each([
    ["Cohere", { results: [scored(1, 0.2), scored(0, 0.9)], meta: { billed_units: { search_units: 3 } } }, 3],
    ["Voyage", { object: "list", data: [scored(0, 0.9), scored(1, 0.2)], usage: { total_tokens: 7 } }, undefined],
    [
      "text-embeddings-inference",
      [
        { index: 0, score: 0.9 },
        { index: 1, score: 0.2 },
      ],
      undefined,
    ],
  ] as const)("of /rerank that respond as %s does get one form", async (_, response, searchUnits) => {
    const model = await newModel("rerank", ["replica-a"], { request: "0.001" })
    respondWith(() => Response.json(response))
    const result = await expectJson<{ usage: Json; results: Json[] }>(
      200,
      send(await newWorkspace(), "/rerank", { model, documents: ["a", "b"], top_n: 1 }),
    )
    expect(result.results).toEqual([{ index: 0, relevance_score: 0.9, document: { text: "a" } }])
    expect(result.usage["search_units"]).toBe(searchUnits)
    expect(result.usage["cost"]).toBe(0.001)
  })

  test.each(["zstd", "gzip, gzip", "aws-chunked"])(
    "a response encoded as %s causes failover, and otherwise a failure that names it",
    async (encoding) => {
      const workspace = await newWorkspace()
      const compressed = new Uint8Array([40, 181, 47, 253, 4, 88, 1, 0, 0])
      const answerWith = (type: string) => () =>
        new Response(compressed, {
          headers: { "content-type": type, "content-encoding": encoding },
          encodeBody: "manual",
        })
      const requests = [
        ["/audio/speech", "speech", answerWith("audio/mpeg")],
        ["/images", "image", answerWith("application/json")],
      ] as const
      for (const [endpoint, output, answer] of requests) {
        const calls = respondWith(answer)
        const model = await newModel(output, ["replica-a", "replica-b"])
        const { error } = await expectJson<Failure>(502, send(workspace, endpoint, { model }))
        const rule = `encoded its response as ${encoding}, although the request accepts no encoding.`
        expect(error.message).toContain(rule)
        expect(calls).toHaveLength(2)
        expect(calls[0]?.headers.get("accept-encoding")).toBe("identity")
      }
    },
  )

  test.each<[string, string, object, (body: Json) => Response]>([
    [
      "/rerank without top_n, as Voyage",
      "/rerank",
      { documents: ["a", "b"], top_n: 1 },
      (body) => ("top_n" in body ? unknown("Argument 'top_n' is not supported by our API") : Response.json(RANKED)),
    ],
    [
      "/rerank of texts, as text-embeddings-inference",
      "/rerank",
      { documents: ["a", "b"], top_n: 1 },
      (body) =>
        "texts" in body && !("documents" in body) ? Response.json(RANKED.data) : unknown("missing field `texts`"),
    ],
    [
      "/images without response_format, as OpenAI's image models",
      "/images",
      { response_format: "b64_json" },
      (body) =>
        "response_format" in body
          ? unknown("Unknown parameter: 'response_format'.")
          : Response.json({ data: [{ b64_json: "AAAA" }] }),
    ],
    [
      "/images that are in images, as SiliconFlow",
      "/images",
      {},
      () => Response.json({ images: [{ url: "https://x.test/1.png" }] }),
    ],
  ])("a provider of %s is called", async (_, endpoint, more, respond) => {
    const model = await newModel(outputs[endpoint as keyof typeof outputs], ["replica-a"])
    respondWith(({ json }) => respond(json as Json))
    const result = await expectJson<{ results?: Json[]; data?: Json[] }>(
      200,
      send(await newWorkspace(), endpoint as keyof typeof outputs, { model, ...more }),
    )
    expect(result.results ?? result.data).toHaveLength(1)
  })

  test("a JSON error in place of audio is returned as an error", async () => {
    const workspace = await newWorkspace()
    const refused = await expectJson<Failure>(400, send(workspace, "/audio/speech", { response_format: "mp3" }))
    expect(refused.error.message).toContain("response_format")
    const model = await newModel("speech", ["replica-a"])
    respondWith(() => Response.json({ error: { message: "No such voice", code: 400 } }))
    const returned = await expectJson<Failure>(400, send(workspace, "/audio/speech", { model }))
    expect(returned.error.message).toContain("No such voice")
  })

  test("receive the client's fields and none of the gateway's", async () => {
    const model = await newModel("image", ["replica-a"])
    const calls = respondWith(() => Response.json({ created: 1, data: [{ url: "https://x.test/1.png" }] }))
    const more = { model, quality: "high", vendor_field: 1, session_id: "s", trace: {}, user: "ada", provider: {} }
    await expectJson(200, send(await newWorkspace(), "/images", more))
    const [request] = calls
    expect(request?.url).toBe("http://replica-a.test/v1/images/generations")
    expect(request?.json).toEqual({
      model: "up",
      prompt: "a dot",
      quality: "high",
      vendor_field: 1,
      user: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
    })
  })

  const UNHELD = {
    num_images: 9,
    number_of_images: 9,
    num_outputs: 9,
    sampleCount: 9,
    batch_size: 9,
    fallbacks: [{ model: "other" }],
    service_tier: "priority",
    store: true,
    safety_identifier: "ada@example.com",
  }

  test.each(routes)(
    "of %s receive no field that multiplies results, or selects a model or a tier",
    async (endpoint) => {
      const model = await newModel(outputs[endpoint], ["replica-a"])
      const calls = respondWith(() => Response.json({ error: { message: "No", code: 400 } }))
      await expectJson(400, send(await newWorkspace(), endpoint, { model, ...UNHELD, vendor_field: "kept" }))
      const [request] = calls
      const sent = request?.form ? Object.fromEntries(request.form) : (request?.json as Json)
      expect(Object.keys(sent).filter((name) => name in UNHELD)).toEqual([])
      expect(sent["vendor_field"]).toBe("kept")
    },
  )

  test("receive audio as a form with every field of the request", async () => {
    const model = await newModel("transcription", ["replica-a"])
    const calls = respondWith(() => Response.json({ text: "Hello", duration: 2.5 }))
    const more = {
      model,
      language: "en",
      response_format: "verbose_json",
      timestamp_granularities: ["word", "segment"],
    }
    await expectJson(200, send(await newWorkspace(), "/audio/transcriptions", more))
    const form = calls[0]?.form
    expect(form?.get("model")).toBe("up")
    expect(form?.get("language")).toBe("en")
    expect(form?.getAll("timestamp_granularities[]")).toEqual(["word", "segment"])
    const file = form?.get("file") as unknown as File
    expect([file.name, file.type]).toEqual(["audio.mp3", "audio/mp3"])
    expect(new Uint8Array(await file.arrayBuffer())).toEqual(SOUND)
  })

  test.each([
    ["tokens", { usage: { input_tokens: 5, output_tokens: 20, total_tokens: 25 } }, 5e-6 + 20 * 2e-6],
    ["fewer images than requested", { data: [{ b64_json: "" }] }, 0.02],
  ])("are charged by what they report to have generated: %s", async (_, returned, cost) => {
    const workspace = await newWorkspace()
    const pricing = "usage" in returned ? { prompt: "0.000001", completion: "0.000002" } : { image_output: "0.02" }
    const model = await newModel("image", ["replica-a"], pricing)
    respondWith(() => Response.json({ created: 1, data: [{ b64_json: "" }, { b64_json: "" }], ...returned }))
    const response = await send(workspace, "/images", { model, n: 2 })
    expect((await chargedFor(workspace, response)).total_cost).toBeCloseTo(cost, 9)
  })

  test("report an audio length in usage or beside the text, and it is charged", async () => {
    for (const returned of [{ duration: 12.5 }, { usage: { type: "duration", seconds: 12.5 } }]) {
      const workspace = await newWorkspace()
      const model = await newModel("transcription", ["replica-a"], { second: "0.001" })
      respondWith(() => Response.json({ text: "Hello", ...returned }))
      const response = await send(workspace, "/audio/transcriptions", { model })
      expect((await chargedFor(workspace, response)).total_cost).toBe(0.0125)
    }
  })

  test.each([
    [404, 404],
    [409, 409],
    [410, 410],
    [500, 502],
    [302, 502],
  ])("with status %i for a video download produce %i", async (returned, status) => {
    const workspace = await newWorkspace()
    const model = await newModel("video", ["replica-a"])
    respondWith(({ method }) =>
      method === "POST" ? Response.json({ id: "v/1" }) : new Response(null, { status: returned }),
    )
    const { id } = await expectJson<{ id: string }>(202, send(workspace, "/videos", { model }))
    await expectJson(status, workspace.as.get(`/videos/${id}/content`))
  })

  test.each([
    ["application/octet-stream", "video/mp4"],
    ["text/html", "video/mp4"],
    ["video/webm", "video/webm"],
  ])("with a video as %s produce %s", async (returned, type) => {
    const workspace = await newWorkspace()
    const model = await newModel("video", ["replica-a"])
    respondWith(({ method }) =>
      method === "POST" ? Response.json({ id: "v/1" }) : new Response("v", { headers: { "content-type": returned } }),
    )
    const { id } = await expectJson<{ id: string }>(202, send(workspace, "/videos", { model }))
    const content = await workspace.as.get(`/videos/${id}/content`)
    expect(content.headers.get("content-type")).toBe(type)
    expect(await content.text()).toBe("v")
  })

  test.each([
    [{ cost: 0.123, is_byok: true, cost_details: { upstream_inference_cost: 0.123 } }, undefined],
    [{ cost: 0.123, seconds: 4 }, { seconds: 4 }],
  ])("whose polled video has the usage %j do not reveal what the operator pays", async (usage, expected) => {
    const workspace = await newWorkspace()
    const model = await newModel("video", ["replica-a"])
    respondWith(({ method }) => Response.json(method === "POST" ? { id: "v/1" } : { status: "completed", usage }))
    const { id } = await expectJson<{ id: string }>(202, send(workspace, "/videos", { model }))
    const job = await expectJson<Json>(200, workspace.as.get(`/videos/${id}`))
    expect(job).toMatchObject({ status: "completed" })
    expect(job["usage"]).toEqual(expected)
  })

  test("receive the upstream id and their credential when a video is polled", async () => {
    const workspace = await newWorkspace()
    const model = await newModel("video", ["replica-a"])
    const failed = { id: "v/1", status: "failed", error: { code: "moderated", message: "Not this." } }
    const calls = respondWith(({ method }) => Response.json(method === "POST" ? { id: "v/1" } : failed))
    const { id } = await expectJson<{ id: string }>(202, send(workspace, "/videos", { model }))
    expect(await expectJson(200, workspace.as.get(`/videos/${id}`))).toMatchObject({
      status: "failed",
      error: "Not this.",
    })
    expect(calls[1]?.url).toBe("http://replica-a.test/v1/videos/v%2F1")
    expect(calls[1]?.headers.get("authorization")).toBe("Bearer replica-a-provider-key-0123456789")
  })
})

test("GET /models lists text models; output_modalities selects the others", async () => {
  const { as } = await newWorkspace()
  const idsOf = async (query: string) =>
    (await expectJson<{ data: { id: string }[] }>(200, as.get(`/models${query}`))).data.map(({ id }) => id)
  const idList = await idsOf("")
  for (const { model } of Object.values(REQUESTS)) expect(idList).not.toContain(model)
  expect(await idsOf("?output_modalities=rerank,transcription")).toEqual(
    expect.arrayContaining(["sim/rerank", "sim/transcribe"]),
  )
})
