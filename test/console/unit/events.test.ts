import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { follow, readFrames } from "../../../src/console/api/events.ts"

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal("addEventListener", () => {})
  vi.stubGlobal("removeEventListener", () => {})
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

/** Connections of an event stream, in order. The test writes their events. */
function connections() {
  const opened: { lastId: string | null; stream: ReadableStreamDefaultController<Uint8Array> }[] = []
  vi.stubGlobal("fetch", (_: string, { headers, signal }: { headers: Record<string, string>; signal: AbortSignal }) => {
    const body = new ReadableStream<Uint8Array>({
      start(stream) {
        opened.push({ lastId: headers["last-event-id"] ?? null, stream })
        signal.addEventListener("abort", () => stream.error(new DOMException("Aborted", "AbortError")))
      },
    })
    return Promise.resolve(new Response(body))
  })
  const write = (at: number, text: string) => opened[at]?.stream.enqueue(new TextEncoder().encode(text))
  return { opened, write }
}

test("a silent connection is opened again, behind the last event; one with pings is not", async () => {
  const { opened, write } = connections()
  const states: boolean[] = []
  const stop = follow(
    "/events",
    () => {},
    (isLive) => states.push(isLive),
  )
  await vi.advanceTimersByTimeAsync(10)
  write(0, "event: call\nid: 5.gen-1\ndata: {}\n\n")
  for (let ping = 0; ping < 4; ping++) {
    await vi.advanceTimersByTimeAsync(15_000)
    write(0, "event: ping\ndata: {}\n\n")
  }
  expect(opened).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(45_000)
  expect(opened.map(({ lastId }) => lastId)).toEqual([null, "5.gen-1"])
  expect(states).toEqual([true, false, true])
  stop()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(opened).toHaveLength(2)
})

test("a response that is cut is an error with a message for users", async () => {
  const body = new ReadableStream({ start: (stream) => stream.error(new TypeError("network error")) })
  const read = async () => {
    for await (const _ of readFrames(new Response(body)));
  }
  await expect(read()).rejects.toThrow("The connection was lost before the response was complete.")
})
