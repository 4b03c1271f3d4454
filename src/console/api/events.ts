import { EventSourceParserStream } from "eventsource-parser/stream"
import { ApiError, call } from "./client.ts"

export type Frame = { event: string; data: string; id: string | undefined }

/** The server-sent events of a response, in order. */
export async function* readFrames(response: Response): AsyncGenerator<Frame> {
  if (!response.body) return
  const frames = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())
  const reader = frames.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(rethrowCut)
      if (done) return
      yield { event: value.event ?? "message", data: value.data, id: value.id }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

function rethrowCut(thrown: unknown): never {
  if (thrown instanceof DOMException) throw thrown
  throw incompleteStreamError()
}

/** A stream that ended before its last event. */
export function incompleteStreamError(): ApiError {
  return new ApiError("The connection was lost before the response was complete.", { status: 0, requestId: null })
}

const MAX_WAIT_MS = 30_000
/** The gateway sends a ping every 15 seconds: after a longer silence the connection is dead. */
const MAX_SILENCE_MS = 40_000

/** Waits for the delay, or until the network is back. */
function waitFor(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      removeEventListener("online", done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    addEventListener("online", done)
  })
}

/** Aborts after a silence, or with `abort`. */
function silenceAfter(abort: AbortSignal) {
  const silence = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const restart = () => {
    clearTimeout(timer)
    timer = setTimeout(() => silence.abort(), MAX_SILENCE_MS)
  }
  restart()
  return { signal: AbortSignal.any([abort, silence.signal]), restart, stop: () => clearTimeout(timer) }
}

/**
 * Follows a stream of events until the returned function is called: after a lost or silent connection it resumes behind
 * the last event. EventSource cannot send the console's header, so this reads the stream by fetch.
 */
export function follow(path: string, onEvent: (frame: Frame) => void, onState: (isLive: boolean) => void): () => void {
  const abort = new AbortController()
  let lastId: string | undefined
  let waitMs = 500
  const read = async () => {
    const silence = silenceAfter(abort.signal)
    try {
      const headers = { accept: "text/event-stream", ...(lastId !== undefined && { "last-event-id": lastId }) }
      const response = await call(path, { headers, signal: silence.signal })
      onState(true)
      waitMs = 500
      for await (const frame of readFrames(response)) {
        silence.restart()
        if (frame.id !== undefined) lastId = frame.id
        onEvent(frame)
      }
    } finally {
      silence.stop()
    }
  }
  const run = async () => {
    while (!abort.signal.aborted) {
      // After a failure, the next attempt follows; the state shows that the view is not live.
      await read().catch(() => {})
      if (abort.signal.aborted) return
      onState(false)
      await waitFor(waitMs)
      waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)
    }
  }
  void run()
  return () => abort.abort()
}
