import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { readRejection } from "../../src/inference/upstream/upstream-response.ts"
import type { Provider } from "../../src/providers/provider.ts"

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const provider: Provider = {
  slug: "acme",
  name: "Acme",
  baseUrl: "https://acme.example/v1",
  format: "openai",
  keyHeader: "authorization",
  quirks: {},
}

/** A response with this status whose body has a start and no end. */
function endless(status: number, start: string, onCancel: () => void = () => {}): Response {
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode(start)),
    cancel: onCancel,
  })
  return new Response(body, { status, headers: { "retry-after": "7" } })
}

test.each([
  ["nothing", "", "Acme returned status 429."],
  ["a part", '{"error":{"mess', "Acme returned status 429."],
  ["its message", '{"error":{"message":"Too fast"}}', "Too fast"],
])("an error response whose body never ends keeps its status after %s", async (_name, start, message) => {
  const onCancel = vi.fn<() => void>()
  const reading = readRejection(provider, endless(429, start, onCancel))
  await vi.advanceTimersByTimeAsync(5_000)
  expect(await reading).toMatchObject({ status: 429, code: "rate_limited", message, retryAfterMs: 7_000 })
  expect(onCancel).toHaveBeenCalledTimes(1)
})

test("an error response that ends is read at once, and leaves no timer", async () => {
  const response = Response.json({ error: { message: "Too fast" } }, { status: 429 })
  expect(await readRejection(provider, response)).toMatchObject({ status: 429, message: "Too fast" })
  expect(vi.getTimerCount()).toBe(0)
})
