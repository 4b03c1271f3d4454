import { NotFoundResponseError } from "@openrouter/sdk/models/errors"
import { beforeAll, expect, test } from "vitest"
import { newOrganization, openrouter, type Organization } from "./world.ts"

let organization: Organization

beforeAll(async () => {
  organization = await newOrganization()
})

async function bytesOf(stream: ReadableStream<Uint8Array>): Promise<Buffer<ArrayBuffer>> {
  return Buffer.from(await new Response(stream).arrayBuffer())
}

test("@openrouter/sdk: documents are ranked, and parse strictly", async () => {
  const requestBody = { model: "sim/rerank", query: "the cat", documents: ["a dog", { text: "the cat" }] }
  const ranked = await openrouter(organization.apiKey).rerank.rerank({ requestBody })
  if (typeof ranked === "string") throw new Error("Text came.")
  expect(ranked.results).toEqual([
    { index: 1, relevanceScore: 1, document: { text: "the cat" } },
    { index: 0, relevanceScore: 0, document: { text: "a dog" } },
  ])
  expect(ranked.usage).toMatchObject({ cost: 0.001, searchUnits: 1 })
})

test("@openrouter/sdk: images are generated, and parse strictly", async () => {
  const imageGenerationRequest = { model: "sim/image", prompt: "a dot", n: 2, stream: false as const }
  const made = await openrouter(organization.apiKey).images.generate({ imageGenerationRequest })
  if (!("data" in made)) throw new Error("A stream came.")
  expect(made.data).toHaveLength(2)
  expect(made.usage).toMatchObject({ cost: 0.04, isByok: false })
})

test("@openrouter/sdk: speech is generated, and transcribed from JSON and from a form", async () => {
  const client = openrouter(organization.apiKey)
  const speech = await client.tts.createSpeech({
    speechRequest: { model: "sim/speech", input: "Hello", voice: "alloy" },
  })
  const sound = await bytesOf(speech)
  expect(sound.byteLength).toBe(4_000)
  const text = `${sound.byteLength} bytes of audio/wav`
  const inputAudio = { data: sound.toString("base64"), format: "wav" }
  const fromJson = await client.stt.createTranscription({ sttRequest: { model: "sim/transcribe", inputAudio } })
  expect(fromJson).toMatchObject({ text, usage: { seconds: 1, cost: 0.0001 } })
  const file = new File([sound], "hello.wav", { type: "audio/wav" })
  const requestBody = { model: "sim/transcribe", file }
  expect((await client.stt.createTranscriptionMultipart({ requestBody })).text).toBe(text)
})

test("@openrouter/sdk: a video is created, polled and fetched", async () => {
  const client = openrouter(organization.apiKey)
  const ordered = await client.videoGeneration.generate({
    videoGenerationRequest: { model: "sim/video", prompt: "waves", duration: 3 },
  })
  expect(ordered).toMatchObject({ status: "pending", usage: { cost: 0.15 } })
  const { status } = await client.videoGeneration.getGeneration({ jobId: ordered.id })
  expect(status).toBe("completed")
  const video = await bytesOf(await client.videoGeneration.getVideoContent({ jobId: ordered.id }))
  expect(video.subarray(4, 8).toString()).toBe("ftyp")
})

test("@openrouter/sdk: a model without this modality is a NotFoundResponseError", async () => {
  const client = openrouter(organization.apiKey)
  const rerank = client.rerank.rerank({ requestBody: { model: "sim/echo", query: "x", documents: ["x"] } })
  await expect(rerank).rejects.toBeInstanceOf(NotFoundResponseError)
  const speech = client.tts.createSpeech({ speechRequest: { model: "sim/echo", input: "x", voice: "alloy" } })
  await expect(speech).rejects.toBeInstanceOf(NotFoundResponseError)
})
