import { afterEach, describe, expect, test } from "vitest"
import { chunk, DONE, good, mockProvider, sse, usageChunk } from "../support/mock-provider.ts"
import { useVariable } from "../support/variable.ts"
import { newWorkspace, readStream } from "../support/world.ts"

let stop = () => {}
afterEach(() => stop())

const streams: Readonly<Record<string, () => Response>> = {
  "in a chunk without a choice": () => sse([...good("Hello").slice(0, -2), usageChunk(10, 5), DONE]),
  "in the chunk with the finish reason": () =>
    sse([
      chunk({ content: "Hello" }),
      chunk({}, "stop", { usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } }),
      DONE,
    ]),
  nowhere: () => sse([...good("Hello").slice(0, -2), DONE]),
}

/** The last chunk of a streamed call. */
async function lastChunk(answer: () => Response) {
  ;({ stop } = mockProvider(answer))
  const { as } = await newWorkspace()
  const { chunks } = await readStream(await as.chat("acme/chat-39", "Hi", { stream: true }))
  return chunks.at(-1) as { choices: unknown[]; usage: { total_tokens: number } }
}

const cases = Object.entries(streams)

describe("the usage of a stream, which the provider sends", () => {
  test.each(cases)("%s, comes last, without a choice unless it has the finish reason", async (where, answer) => {
    const last = await lastChunk(answer)
    expect(last.usage.total_tokens).toBeGreaterThan(0)
    expect(last.choices).toHaveLength(where.includes("finish") ? 1 : 0)
  })
})

describe("with CLIENT_DIALECT=openrouter, the usage of a stream, which the provider sends", () => {
  useVariable("CLIENT_DIALECT", "openrouter")

  test.each(cases)("%s, comes last, with a choice for clients that skip chunks without one", async (_, answer) => {
    const last = await lastChunk(answer)
    expect(last.usage.total_tokens).toBeGreaterThan(0)
    expect(last.choices).toMatchObject([{ index: 0, delta: {} }])
  })
})
