import { env } from "cloudflare:workers"
import { expect, test } from "vitest"
import { PacedReader } from "../../src/formats/sse/paced-reader.ts"
import type { Env } from "../../src/config/env.ts"

const CHUNK = "0123456789".repeat(20)
const CHUNKS = 20_000

/** The body of a provider that writes each chunk separately. */
async function newBody(): Promise<ReadableStream<Uint8Array>> {
  const providers = JSON.parse(String((env as Env).CUSTOM_PROVIDERS)) as { slug: string; base_url: string }[]
  const provider = providers.find(({ slug }) => slug === "played")
  const play = Array.from({ length: CHUNKS }, () => CHUNK)
  const { body } = await fetch(`${provider?.base_url}/chunks`, { method: "POST", body: JSON.stringify({ play }) })
  if (!body) throw new Error("The provider sent no body.")
  return body
}

test.each([
  ["a reader", Number.POSITIVE_INFINITY],
  ["a reader that waits for a slow client", 10],
])("%s takes a long burst with few reads, without losing a byte", async (_, pauseEvery) => {
  const reader = new PacedReader(await newBody())
  let reads = 0
  let bytes = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    reads += 1
    bytes += value.byteLength
    if (reads % pauseEvery === 0) reader.pause()
  }
  expect(bytes).toBe(CHUNKS * CHUNK.length)
  expect(reads).toBeLessThan(CHUNKS / 10)
})

test("a body whose chunks are written one after another is not delayed", async () => {
  const { readable, writable } = new IdentityTransformStream()
  const writer = writable.getWriter()
  const write = async () => {
    for (let at = 0; at < 1_000; at += 1) await writer.write(new Uint8Array(100))
    await writer.close()
  }
  const written = write()
  const reader = new PacedReader(readable)
  let bytes = 0
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) bytes += chunk.value.byteLength
  await written
  expect(bytes).toBe(100_000)
})
