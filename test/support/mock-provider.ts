import { vi } from "vitest"

/** A provider of the test in place of the network: CUSTOM_PROVIDERS of the suite calls it `played`. */
export const MOCK_PROVIDER_URL = "http://played.test/v1"

export type UpstreamRequest = { url: string; headers: Headers; body: Record<string, unknown>; signal: AbortSignal }

/** Responds to every network call of the gateway, until the returned function is called. */
export function mockProvider(answer: (upstreamCalls: UpstreamRequest) => Response | Promise<Response>): {
  upstreamCalls: UpstreamRequest[]
  stop: () => void
} {
  const upstreamCalls: UpstreamRequest[] = []
  const spy = vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const request = new Request(input, init)
    const call = {
      url: request.url,
      headers: request.headers,
      body: await request.json<UpstreamRequest["body"]>(),
      signal: request.signal,
    }
    upstreamCalls.push(call)
    return answer(call)
  })
  return { upstreamCalls, stop: () => spy.mockRestore() }
}

const encoder = new TextEncoder()

/** A stream of these chunks, sent unchanged; an Error breaks the connection, `null` leaves it open. */
export function sse(
  pieces: readonly (string | Uint8Array | Error | null)[],
  onCancel: () => void = () => {},
): Response {
  const queue = [...pieces]
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = queue.shift()
      if (piece === undefined) controller.close()
      else if (piece === null) return new Promise(() => {})
      else if (piece instanceof Error) controller.error(piece)
      else controller.enqueue(typeof piece === "string" ? encoder.encode(piece) : piece)
    },
    cancel: onCancel,
  })
  // A native stream instead of a scripted one, like a provider's body on the platform.
  const pipe = new IdentityTransformStream()
  body.pipeTo(pipe.writable).catch(() => undefined)
  return new Response(pipe.readable, { headers: { "content-type": "text/event-stream" } })
}

const HEAD = { id: "up-1", object: "chat.completion.chunk", created: 1, model: "played" }

export function chunk(
  delta: Record<string, unknown>,
  finishReason: string | null = null,
  more: Record<string, unknown> = {},
): string {
  return `data: ${JSON.stringify({ ...HEAD, choices: [{ index: 0, delta, finish_reason: finishReason }], ...more })}\n\n`
}

export function usageChunk(prompt: number, completion: number): string {
  const usage = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion }
  return `data: ${JSON.stringify({ ...HEAD, choices: [], usage })}\n\n`
}

export const DONE = "data: [DONE]\n\n"

/** A correct stream that sends `text` in pieces of four. */
export function good(text: string): string[] {
  const pieces = text.match(/.{1,4}/gs) ?? []
  return [
    chunk({ role: "assistant", content: "" }),
    ...pieces.map((content) => chunk({ content })),
    chunk({}, "stop"),
    usageChunk(10, pieces.length),
    DONE,
  ]
}
