import { describe, expect, test } from "vitest"
import { toWav } from "../../src/embedded/media/audio.ts"
import { decodeBase64 } from "../../src/support/text/encoding.ts"
import { worker } from "./request.ts"

type Json = Record<string, unknown>

function post(path: string, body: unknown): Promise<Response> {
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }
  return worker.fetch(new Request(`https://embedded/v1${path}`, init))
}

const get = (path: string) => worker.fetch(new Request(`https://embedded/v1${path}`))

function transcribe(fields: Record<string, string | File>): Promise<Response> {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  return worker.fetch(new Request("https://embedded/v1/audio/transcriptions", { method: "POST", body: form }))
}

test("rerank orders documents by shared words, equal ones in input order", async () => {
  const documents = ["Nothing alike", { text: "the Cat, alone" }, "the cat sat", { image: "data:," }]
  const answer = await (await post("/rerank", { model: "rerank", query: "The cat sat", documents, top_n: 3 })).json()
  expect(answer).toMatchObject({
    results: [
      { index: 2, relevance_score: 1 },
      { index: 1, relevance_score: 2 / 3 },
      { index: 0, relevance_score: 0 },
    ],
    usage: { search_units: 1 },
  })
})

test("a moderation flags texts with a word of a category", async () => {
  const input = ["Good morning", "I will kill the process", ""]
  const { results } = await (
    await post("/moderations", { model: "moderation", input })
  ).json<{ results: { flagged: boolean; categories: Record<string, boolean> }[] }>()
  expect(results.map(({ flagged }) => flagged)).toEqual([false, true, false])
  expect(results[1]?.categories).toMatchObject({ violence: true, hate: false })
})

describe("images", () => {
  test("are distinct and as many as requested", async () => {
    const { data } = await (
      await post("/images/generations", { model: "image", prompt: "a dot", n: 3 })
    ).json<{
      data: { b64_json: string }[]
    }>()
    expect(new Set(data.map(({ b64_json }) => b64_json)).size).toBe(3)
  })

  test("are PNG, whose data inflates to one dot", async () => {
    const answer = await post("/images/generations", { model: "image", prompt: "AB" })
    const { data } = await answer.json<{ data: [{ b64_json: string }] }>()
    const bytes = decodeBase64(data[0].b64_json) ?? new Uint8Array(0)
    expect([...bytes.subarray(0, 8)]).toEqual([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
    const at = new TextDecoder("latin1").decode(bytes).indexOf("IDAT")
    const size = new DataView(bytes.buffer).getUint32(at - 4)
    const zlib = new Response(bytes.subarray(at + 4, at + 4 + size)).body
    const dot = await new Response(zlib?.pipeThrough(new DecompressionStream("deflate"))).arrayBuffer()
    expect([...new Uint8Array(dot)]).toEqual([0, 2, 65, 0])
    // The CRC of an empty IEND is the same in every PNG.
    expect([...bytes.subarray(-4)]).toEqual([0xae, 0x42, 0x60, 0x82])
  })
})

describe("speech", () => {
  const postSpeech = (more: Json) => post("/audio/speech", { model: "speech", ...more })

  test("is a WAV that grows with the text", async () => {
    const [short, long] = [await postSpeech({ input: "Hi" }), await postSpeech({ input: "Hi, all of you" })]
    expect(short.headers.get("content-type")).toBe("audio/wav")
    const [one, other] = [await short.arrayBuffer(), await long.arrayBuffer()]
    expect(new TextDecoder().decode(one.slice(0, 4))).toBe("RIFF")
    expect(new DataView(one).getUint32(40, true)).toBe(one.byteLength - 44)
    expect((other.byteLength - 44) / (one.byteLength - 44)).toBe(7)
  })

  test("is raw samples when requested as PCM", async () => {
    const pcm = await postSpeech({ input: "Hi", response_format: "pcm" })
    expect(pcm.headers.get("content-type")).toBe("audio/pcm")
    const wav = new Uint8Array(await (await postSpeech({ input: "Hi" })).arrayBuffer())
    expect(toWav(new Uint8Array(await pcm.arrayBuffer()))).toEqual(wav)
  })
})

test("a transcription states the size and type of the audio", async () => {
  const file = new File([new Uint8Array(16_001)], "a.mp3", { type: "audio/mpeg" })
  const answer = await transcribe({ model: "transcribe", file })
  expect(await answer.json()).toEqual({ text: "16001 bytes of audio/mpeg", usage: { type: "duration", seconds: 2 } })
})

test("a verbose transcription has language, duration and segments, and words on request", async () => {
  const file = new File([new Uint8Array(16_001)], "a.mp3", { type: "audio/mpeg" })
  const verbose = { model: "transcribe", file, response_format: "verbose_json" }
  const text = "16001 bytes of audio/mpeg"
  const answer = await (await transcribe(verbose)).json<Json>()
  expect(answer).toMatchObject({ task: "transcribe", language: "english", duration: 2, text })
  expect(answer).toMatchObject({ segments: [{ id: 0, start: 0, end: 2, text }] })
  expect(answer).not.toHaveProperty("words")
  const worded = await (await transcribe({ ...verbose, "timestamp_granularities[]": "word" })).json<Json>()
  expect(worded["words"]).toMatchObject([{ word: "16001", start: 0, end: 0.5 }, {}, {}, { word: "audio/mpeg", end: 2 }])
  expect(worded).not.toHaveProperty("segments")
})

describe("a video", () => {
  test("is queued, then completed, then MP4 bytes", async () => {
    const order = await (await post("/videos", { model: "video", prompt: "waves", duration: 7 })).json<Json>()
    expect(order).toMatchObject({ status: "queued", seconds: "7" })
    const path = `/videos/${String(order["id"])}`
    expect(await (await get(path)).json()).toMatchObject({ id: order["id"], status: "completed", seconds: "7" })
    const content = await get(`${path}/content`)
    expect(content.headers.get("content-type")).toBe("video/mp4")
    expect(new TextDecoder().decode((await content.arrayBuffer()).slice(4, 12))).toBe("ftypisom")
  })

  test.each(["/videos/none", "/videos/none/content", "/videos/video_1_4"])("%s returns 404", async (path) => {
    const refused = await get(path)
    expect(refused.status).toBe(404)
    expect(await refused.json()).toMatchObject({ error: { code: "video_not_found" } })
  })
})

describe("rejected requests", () => {
  const file = new File(["x"], "a.wav")

  test.each([
    ["a moderation without an input", () => post("/moderations", { model: "moderation" }), "input"],
    ["a rerank without documents", () => post("/rerank", { model: "rerank", query: "x" }), "documents"],
    ["an image without a prompt", () => post("/images/generations", { model: "image" }), "prompt"],
    ["speech without text", () => post("/audio/speech", { model: "speech" }), "input"],
    [
      "speech in an unsupported format",
      () => post("/audio/speech", { model: "speech", input: "x", response_format: "mp3" }),
      "response_format",
    ],
    ["a transcription without audio", () => transcribe({ model: "transcribe" }), "file"],
  ])("%s", async (_, send, param) => {
    const refused = await send()
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({ error: { type: "invalid_request_error", param } })
  })

  test.each([
    ["rerank", () => post("/rerank", { model: "echo", query: "x", documents: [] })],
    ["images", () => post("/images/generations", { model: "speech", prompt: "x" })],
    ["transcriptions", () => transcribe({ model: "speech", file })],
    ["videos", () => post("/videos", {})],
  ])("a model that does not make %s returns 404", async (_, send) => {
    const refused = await send()
    expect(refused.status).toBe(404)
    expect(await refused.json()).toMatchObject({ error: { code: "model_not_found" } })
  })
})
