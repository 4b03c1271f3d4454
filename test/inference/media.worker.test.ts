import { exports } from "cloudflare:workers"
import { afterEach, describe, expect, test, vi } from "vitest"
import { decodeBase64 } from "../../src/support/encoding.ts"
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

const QUESTIONS = {
  "/rerank": { model: "sim/rerank", query: "the cat", documents: ["a dog", "the cat"] },
  "/images": { model: "sim/image", prompt: "a dot" },
  "/images/generations": { model: "sim/image", prompt: "a dot" },
  "/audio/speech": { model: "sim/speech", input: "Hello there" },
  "/audio/transcriptions": { model: "sim/transcribe", input_audio: { data: toBase64(SOUND), format: "mp3" } },
  "/videos": { model: "sim/video", prompt: "waves" },
} satisfies Record<string, Json>
type Surface = keyof typeof QUESTIONS
const surfaces = Object.keys(QUESTIONS) as Surface[]

function toBase64(bytes: Uint8Array): string {
  return btoa(bytes.reduce((text, byte) => text + String.fromCharCode(byte), ""))
}

const ask = (workspace: Workspace, surface: Surface, more: Json = {}) =>
  workspace.as.post(surface, { ...QUESTIONS[surface], ...more })

function sendForm({ key }: Workspace, fields: Record<string, string | File>): Promise<Response> {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  const init = { method: "POST", headers: { authorization: `Bearer ${key}` }, body: form }
  return (exports as unknown as { default: Fetcher }).default.fetch(`${BASE}/audio/transcriptions`, init)
}

/** The answer's status and what it cost, once no hold is left open. */
async function chargedFor(workspace: Workspace, response: Response): Promise<Receipt & { api_type: string }> {
  const body = new TextDecoder().decode(await response.arrayBuffer())
  expect(response.status, body).toBeLessThan(300)
  expect(await openHolds(workspace)).toEqual([])
  return (await receiptOf(workspace, response)) as Receipt & { api_type: string }
}

describe("answers", () => {
  test("documents come the most relevant first, each with its words, which the provider left out", async () => {
    const answer = await expectJson(
      200,
      ask(await newWorkspace(), "/rerank", { documents: ["a dog", { text: "the cat" }] }),
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

  test.each(["/images", "/images/generations"] as const)("%s makes as many pictures as asked", async (surface) => {
    type Made = { created: number; data: { b64_json: string }[]; usage: Json }
    const { data, usage, created } = await expectJson<Made>(200, ask(await newWorkspace(), surface, { n: 3 }))
    expect(data.map(({ b64_json: picture }) => decodeBase64(picture)?.[1])).toEqual([0x50, 0x50, 0x50])
    expect(created).toBeGreaterThan(0)
    expect(usage).toMatchObject({ completion_tokens: 0, cost: 0.06, is_byok: false })
  })

  test("speech passes byte for byte, with its type and the generation's id", async () => {
    const workspace = await newWorkspace()
    const wav = await ask(workspace, "/audio/speech")
    expect(wav.headers.get("content-type")).toBe("audio/wav")
    expect(wav.headers.get("x-generation-id")).toMatch(/^gen-/)
    const pcm = await ask(workspace, "/audio/speech", { response_format: "pcm" })
    expect(pcm.headers.get("content-type")).toBe("audio/pcm")
    const [whole, samples] = [new Uint8Array(await wav.arrayBuffer()), new Uint8Array(await pcm.arrayBuffer())]
    expect(samples.byteLength).toBeGreaterThan(1_000)
    expect(whole.subarray(44)).toEqual(samples)
  })

  test("a transcription is the same from a form and from JSON", async () => {
    const workspace = await newWorkspace()
    const file = new File([SOUND], "a.mp3", { type: "audio/mp3" })
    const fromForm = await expectJson<{ text: string }>(200, sendForm(workspace, { model: "sim/transcribe", file }))
    expect(fromForm.text).toBe("40000 bytes of audio/mp3")
    expect(await expectJson(200, ask(workspace, "/audio/transcriptions"))).toEqual(fromForm)
  })

  test("a video is ordered, asked for and fetched", async () => {
    const workspace = await newWorkspace()
    const ordered = await ask(workspace, "/videos", { duration: 5 })
    const order = await expectJson<{ id: string; polling_url: string; generation_id: string }>(202, ordered)
    expect(order).toMatchObject({ status: "pending", usage: { cost: 0.25 } })
    expect(order.generation_id).toBe(ordered.headers.get("x-generation-id"))
    expect(order.polling_url).toBe(`${BASE}/videos/${order.id}`)
    const done = await expectJson(200, workspace.as.get(`/videos/${order.id}`))
    expect(done).toMatchObject({ id: order.id, status: "completed", unsigned_urls: [`${order.polling_url}/content`] })
    const film = await workspace.as.get(`/videos/${order.id}/content`)
    expect(film.headers.get("content-type")).toBe("video/mp4")
    expect(new TextDecoder().decode(await film.arrayBuffer())).toContain("ftyp")
  })

  test("a video of another organization is not there, nor is one that nobody ordered", async () => {
    const { id } = await expectJson<{ id: string }>(202, ask(await newWorkspace(), "/videos"))
    const other = await newWorkspace()
    for (const path of [id, `${id}/content`, `${id}0`, "vid_x", "video_1"]) {
      await expectJson(404, other.as.get(`/videos/${path}`))
    }
  })
})

describe("what is charged", () => {
  test.each([
    ["a request", "/rerank", { documents: ["a", "b", "c"] }, "rerank", 0.001],
    ["each picture", "/images", { n: 2 }, "image", 0.04],
    ["each character", "/audio/speech", { input: "0123456789" }, "tts", 0.000_15],
    ["each second of sound", "/audio/transcriptions", {}, "stt", 0.000_3],
    ["each second of a video", "/videos", { duration: 4 }, "video", 0.2],
    ["each second in the words of the OpenAI wire", "/videos", { seconds: "8" }, "video", 0.4],
  ] as const)("is %s: %s", async (_, surface, more, apiType, cost) => {
    const workspace = await newWorkspace()
    const receipt = await chargedFor(workspace, await ask(workspace, surface, more))
    expect(receipt).toMatchObject({ api_type: apiType, total_cost: cost, ending: "complete" })
  })

  test("is nothing that the balance does not cover: the answer is 402 before anyone is asked", async () => {
    for (const [surface, more] of [
      ["/images", { n: 10 }],
      ["/videos", { duration: 100 }],
    ] as const) {
      const poor = await newWorkspace(0.05)
      await expectJson(402, ask(poor, surface, more))
      expect(await openHolds(poor)).toEqual([])
    }
  })
})

describe("refusals", () => {
  test.each(surfaces)("%s: a model that does not make this is a 404 that says what it makes", async (surface) => {
    const { error } = await expectJson<Failure>(404, ask(await newWorkspace(), surface, { model: "sim/echo" }))
    expect(error.message).toContain("sim/echo makes text")
  })

  test.each(surfaces)("%s: a model that nobody knows is a 404", async (surface) => {
    const { error } = await expectJson<Failure>(404, ask(await newWorkspace(), surface, { model: "sim/none" }))
    expect(error.message).toContain("There is no model sim/none")
  })

  test.each([
    ["/rerank", { query: "" }, "query"],
    ["/rerank", { documents: [] }, "documents"],
    ["/rerank", { documents: [1] }, "documents[0]"],
    ["/rerank", { top_n: 0 }, "top_n"],
    ["/images", { prompt: undefined }, "prompt"],
    ["/images", { n: 11 }, "n"],
    ["/images", { stream: true }, "stream"],
    ["/images/generations", { output_compression: 101 }, "output_compression"],
    ["/audio/speech", { input: "" }, "input"],
    ["/audio/speech", { speed: 5 }, "speed"],
    ["/audio/speech", { model: undefined }, "model"],
    ["/audio/transcriptions", { input_audio: undefined }, "input_audio"],
    ["/audio/transcriptions", { input_audio: { data: "?", format: "wav" } }, "input_audio.data"],
    ["/audio/transcriptions", { temperature: 2 }, "temperature"],
    ["/audio/transcriptions", { response_format: "srt" }, "response_format"],
    ["/videos", { duration: 0 }, "duration"],
    ["/videos", { callback_url: "https://x.test" }, "callback_url"],
  ] as const)("%s: %j is refused with a message that names %s", async (surface, more, field) => {
    const { error } = await expectJson<Failure>(400, ask(await newWorkspace(), surface, more))
    expect(error.message.startsWith(`${field}:`), error.message).toBe(true)
  })

  const file = new File([SOUND], "a.wav", { type: "audio/wav" })

  test.each([
    ["no file", { model: "sim/transcribe" }, "file"],
    ["words in place of a file", { model: "sim/transcribe", file: "sound" }, "file"],
    ["no model", { file }, "model"],
    ["a temperature that is no number", { model: "sim/transcribe", file, temperature: "warm" }, "temperature"],
    ["a provider that is not JSON", { model: "sim/transcribe", file, provider: "{" }, "provider"],
  ])("a form with %s is refused with a message that names it", async (_, fields, field) => {
    const { error } = await expectJson<Failure>(400, sendForm(await newWorkspace(), fields))
    expect(error.message.startsWith(`${field}:`), error.message).toBe(true)
  })

  test("a body that is neither JSON nor a form is a 415", async () => {
    const { as } = await newWorkspace()
    await expectJson(415, as.call("POST", "/audio/transcriptions", "x", { "content-type": "audio/wav" }))
  })
})

describe("providers", () => {
  let made = 0
  afterEach(() => vi.restoreAllMocks())

  /** A model of the operator's own, which the given providers serve in their order. */
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

  type Asked = { url: string; method: string; headers: Headers; json?: unknown; form?: FormData }

  /** Answers every call that leaves the gateway by the network. */
  function play(answer: (asked: Asked) => Response): Asked[] {
    const asked: Asked[] = []
    vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
      const request = new Request(input, init)
      const { url, method, headers } = request
      const type = headers.get("content-type") ?? ""
      const one: Asked = { url, method, headers }
      // Read here: a body belongs to the request that sent it.
      if (type.startsWith("multipart/")) one.form = await request.formData()
      else if (type !== "") one.json = await request.json()
      asked.push(one)
      return answer(one)
    })
    return asked
  }

  const outputs: Record<Surface, string> = {
    "/rerank": "rerank",
    "/images": "image",
    "/images/generations": "image",
    "/audio/speech": "speech",
    "/audio/transcriptions": "transcription",
    "/videos": "video",
  }

  test.each(surfaces)("%s: one that fails is another's turn, and costs nothing", async (surface) => {
    const workspace = await newWorkspace()
    const model = await newModel(outputs[surface], ["twin-a", "twin-b"], { request: "0.01" })
    const asked = play(() => Response.json({ error: { message: "Busy", code: 503 } }, { status: 503 }))
    const response = await ask(workspace, surface, { model })
    await expectJson(503, response.clone())
    expect(asked).toHaveLength(2)
    expect(await receiptOf(workspace, response)).toMatchObject({ total_cost: 0, ending: "refused" })
    expect(await openHolds(workspace)).toEqual([])
  })

  test.each([
    ["/rerank", { results: "none" }],
    ["/rerank", { results: [{ index: "0", relevance_score: 1 }] }],
    ["/images", { created: 1, data: [] }],
    ["/images", { created: 1, data: [{ note: "later" }] }],
    ["/audio/speech", { audio: "in words" }],
    ["/audio/transcriptions", { words: [] }],
    ["/videos", { status: "queued" }],
  ] as const)("%s: 200 without an answer (%j) is a failure, and free", async (surface, body) => {
    const workspace = await newWorkspace()
    const model = await newModel(outputs[surface], ["twin-a"], { request: "0.01" })
    play(() => Response.json(body))
    const response = await ask(workspace, surface, { model })
    await expectJson(502, response.clone())
    expect(await receiptOf(workspace, response)).toMatchObject({ total_cost: 0, ending: "refused" })
  })

  test("an error in JSON in place of sound is told as an error", async () => {
    const workspace = await newWorkspace()
    const refused = await expectJson<Failure>(400, ask(workspace, "/audio/speech", { response_format: "mp3" }))
    expect(refused.error.message).toContain("response_format")
    const model = await newModel("speech", ["twin-a"])
    play(() => Response.json({ error: { message: "No such voice", code: 400 } }))
    const told = await expectJson<Failure>(400, ask(workspace, "/audio/speech", { model }))
    expect(told.error.message).toContain("No such voice")
  })

  test("are sent the caller's own fields, and none of the gateway's", async () => {
    const model = await newModel("image", ["twin-a"])
    const asked = play(() => Response.json({ created: 1, data: [{ url: "https://x.test/1.png" }] }))
    const more = { model, quality: "high", vendor_field: 1, session_id: "s", trace: {}, user: "ada", provider: {} }
    await expectJson(200, ask(await newWorkspace(), "/images", more))
    const [request] = asked
    expect(request?.url).toBe("http://twin-a.test/v1/images/generations")
    expect(request?.json).toEqual({
      model: "up",
      prompt: "a dot",
      quality: "high",
      vendor_field: 1,
      user: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
    })
  })

  test("are sent sound in a form, with every field of the request", async () => {
    const model = await newModel("transcription", ["twin-a"])
    const asked = play(() => Response.json({ text: "Hello", duration: 2.5 }))
    const more = {
      model,
      language: "en",
      response_format: "verbose_json",
      timestamp_granularities: ["word", "segment"],
    }
    await expectJson(200, ask(await newWorkspace(), "/audio/transcriptions", more))
    const form = asked[0]?.form
    expect(form?.get("model")).toBe("up")
    expect(form?.get("language")).toBe("en")
    expect(form?.getAll("timestamp_granularities[]")).toEqual(["word", "segment"])
    const file = form?.get("file") as unknown as File
    expect([file.name, file.type]).toEqual(["audio.mp3", "audio/mp3"])
    expect(new Uint8Array(await file.arrayBuffer())).toEqual(SOUND)
  })

  test.each([
    ["tokens", { usage: { input_tokens: 5, output_tokens: 20, total_tokens: 25 } }, 5e-6 + 20 * 2e-6],
    ["fewer pictures than asked", { data: [{ b64_json: "" }] }, 0.02],
  ])("are paid for what they say they made: %s", async (_, told, cost) => {
    const workspace = await newWorkspace()
    const pricing = "usage" in told ? { prompt: "0.000001", completion: "0.000002" } : { image_output: "0.02" }
    const model = await newModel("image", ["twin-a"], pricing)
    play(() => Response.json({ created: 1, data: [{ b64_json: "" }, { b64_json: "" }], ...told }))
    const response = await ask(workspace, "/images", { model, n: 2 })
    expect((await chargedFor(workspace, response)).total_cost).toBeCloseTo(cost, 9)
  })

  test("a sound's length is the provider's word, in its usage or beside the text", async () => {
    for (const told of [{ duration: 12.5 }, { usage: { type: "duration", seconds: 12.5 } }]) {
      const workspace = await newWorkspace()
      const model = await newModel("transcription", ["twin-a"], { second: "0.001" })
      play(() => Response.json({ text: "Hello", ...told }))
      const response = await ask(workspace, "/audio/transcriptions", { model })
      expect((await chargedFor(workspace, response)).total_cost).toBe(0.0125)
    }
  })

  test.each([
    [404, 404],
    [409, 409],
    [410, 410],
    [500, 502],
    [302, 502],
  ])("that answer a question about a video with %i make it a %i", async (told, status) => {
    const workspace = await newWorkspace()
    const model = await newModel("video", ["twin-a"])
    play(({ method }) => (method === "POST" ? Response.json({ id: "v/1" }) : new Response(null, { status: told })))
    const { id } = await expectJson<{ id: string }>(202, ask(workspace, "/videos", { model }))
    await expectJson(status, workspace.as.get(`/videos/${id}/content`))
  })

  test("are asked for a video with their own key, by the id they gave it", async () => {
    const workspace = await newWorkspace()
    const model = await newModel("video", ["twin-a"])
    const failed = { id: "v/1", status: "failed", error: { code: "moderated", message: "Not this." } }
    const asked = play(({ method }) => Response.json(method === "POST" ? { id: "v/1" } : failed))
    const { id } = await expectJson<{ id: string }>(202, ask(workspace, "/videos", { model }))
    expect(await expectJson(200, workspace.as.get(`/videos/${id}`))).toMatchObject({
      status: "failed",
      error: "Not this.",
    })
    expect(asked[1]?.url).toBe("http://twin-a.test/v1/videos/v%2F1")
    expect(asked[1]?.headers.get("authorization")).toBe("Bearer twin-a-provider-key-0123456789")
  })
})

test("GET /models lists what makes words; the others are found by what they make", async () => {
  const { as } = await newWorkspace()
  const idsOf = async (query: string) =>
    (await expectJson<{ data: { id: string }[] }>(200, as.get(`/models${query}`))).data.map(({ id }) => id)
  const words = await idsOf("")
  for (const { model } of Object.values(QUESTIONS)) expect(words).not.toContain(model)
  expect(await idsOf("?output_modalities=rerank,transcription")).toEqual(
    expect.arrayContaining(["sim/rerank", "sim/transcribe"]),
  )
})
