import { NotFoundError, toFile } from "openai"
import { beforeAll, expect, test } from "vitest"
import { newOrganization, openai, type Organization, receiptOf } from "./world.ts"

let organization: Organization

beforeAll(async () => {
  organization = await newOrganization()
})

test("openai: images are generated", async () => {
  const images = await openai(organization.apiKey).images.generate({ model: "sim/image", prompt: "a dot", n: 2 })
  const pictures = images.data?.map(({ b64_json: picture }) => Buffer.from(picture ?? "", "base64")) ?? []
  expect(pictures.map((picture) => picture.subarray(1, 4).toString())).toEqual(["PNG", "PNG"])
  expect(images.usage).toMatchObject({ cost: 0.04 })
})

test("openai: generated speech can be transcribed", async () => {
  const client = openai(organization.apiKey)
  const speech = await client.audio.speech.create({
    model: "sim/speech",
    voice: "alloy",
    input: "Hello there",
    response_format: "wav",
  })
  expect(speech.headers.get("content-type")).toBe("audio/wav")
  const sound = Buffer.from(await speech.arrayBuffer())
  expect(sound.subarray(0, 4).toString()).toBe("RIFF")
  const receipt = await receiptOf(organization, speech.headers.get("x-generation-id") ?? "")
  expect(receipt.total_cost).toBeCloseTo(11 * 0.000015, 9)

  const file = await toFile(sound, "hello.wav", { type: "audio/wav" })
  const written = await client.audio.transcriptions.create({ model: "sim/transcribe", file })
  expect(written.text).toBe(`${sound.byteLength} bytes of audio/wav`)
  expect(written.usage).toMatchObject({ type: "duration", seconds: 1, cost: 0.0001 })
})

test("openai: an image is edited, and audio is translated", async () => {
  const client = openai(organization.apiKey)
  const image = await toFile(Buffer.from("89504e47", "hex"), "cat.png", { type: "image/png" })
  const edited = await client.images.edit({ model: "sim/image", image: [image, image], prompt: "a dot", n: 2 })
  const pictures = edited.data?.map(({ b64_json: picture }) => Buffer.from(picture ?? "", "base64")) ?? []
  expect(pictures.map((picture) => picture.subarray(1, 4).toString())).toEqual(["PNG", "PNG"])
  const single = await client.images.edit({ model: "sim/image", image, mask: image, prompt: "a dot" })
  expect(single.data).toHaveLength(1)

  const file = await toFile(Buffer.alloc(20_000), "hello.wav", { type: "audio/wav" })
  const translated = await client.audio.translations.create({ model: "sim/transcribe", file })
  expect(translated.text).toBe("20000 bytes of audio/wav")
})

test("openai: a transcript is text, subtitles or a verbose document", async () => {
  const client = openai(organization.apiKey)
  const { transcriptions } = client.audio
  const file = await toFile(Buffer.alloc(32_000), "hello.wav", { type: "audio/wav" })
  const as = { model: "sim/transcribe", file }
  const text = "32000 bytes of audio/wav"
  expect(await transcriptions.create({ ...as, response_format: "text" })).toBe(`${text}\n`)
  const srt = await transcriptions.create({ ...as, response_format: "srt" })
  expect(srt).toBe(`1\n00:00:00,000 --> 00:00:02,000\n${text}\n\n`)
  const vtt = await transcriptions.create({ ...as, response_format: "vtt" })
  expect(vtt).toBe(`WEBVTT\n\n00:00:00.000 --> 00:00:02.000\n${text}\n\n`)
  const verbose = await transcriptions.create({ ...as, response_format: "verbose_json" })
  expect(verbose).toMatchObject({ language: "english", duration: 2, segments: [{ start: 0, end: 2, text }] })
})

test("openai: texts are moderated", async () => {
  const client = openai(organization.apiKey)
  const input = ["How are you?", "I will kill you"]
  const { results } = await client.moderations.create({ model: "sim/moderation", input })
  expect(results.map(({ flagged, categories }) => [flagged, categories.violence])).toEqual([
    [false, false],
    [true, true],
  ])
  await expect(client.moderations.create({ model: "sim/echo", input })).rejects.toBeInstanceOf(NotFoundError)
})

test("openai: a model without this modality is a NotFoundError", async () => {
  const client = openai(organization.apiKey)
  const model = "sim/echo"
  const file = await toFile(Buffer.from("sound"), "a.wav")
  for (const call of [
    () => client.images.generate({ model, prompt: "a dot" }),
    () => client.audio.speech.create({ model, voice: "alloy", input: "Hello" }),
    () => client.audio.transcriptions.create({ model, file }),
  ]) {
    await expect(call()).rejects.toBeInstanceOf(NotFoundError)
  }
})
