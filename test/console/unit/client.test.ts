import { afterEach, expect, test, vi } from "vitest"
import { api, ApiError } from "../../../src/console/api/client.ts"

afterEach(() => void vi.unstubAllGlobals())

const failing = async (fetched: () => Promise<Response>) => {
  vi.stubGlobal("fetch", fetched)
  const thrown: unknown = await api("/keys").catch((error: unknown) => error)
  expect(thrown).toBeInstanceOf(ApiError)
  return ApiError.fromThrown(thrown)
}

test("each failure of the network has a message for users", async () => {
  const offline = await failing(() => Promise.reject(new TypeError("Failed to fetch")))
  expect(offline.message).toMatch("cannot be reached")
  const slow = await failing(() => Promise.reject(new DOMException("Timed out", "TimeoutError")))
  expect(slow.message).toMatch("did not respond in time")
  const page = await failing(() => Promise.resolve(new Response("<html>")))
  expect(page.message).toMatch("not from the gateway")
  const cutBody = () => new ReadableStream({ start: (stream) => stream.error(new TypeError("network error")) })
  for (const status of [200, 500]) {
    const cut = await failing(() => Promise.resolve(new Response(cutBody(), { status })))
    expect(cut.message).toMatch("cannot be reached")
  }
  const bare = await failing(() => Promise.resolve(new Response("<html>", { status: 502 })))
  expect(bare).toMatchObject({ status: 502, message: "The gateway returned 502 without an explanation." })
})
