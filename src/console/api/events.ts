import { EventSourceParserStream } from "eventsource-parser/stream"
import { call } from "./client.ts"

export type Frame = { event: string; data: string; id: string | undefined }

/** The server-sent events of a response, in order. */
export async function* readFrames(response: Response): AsyncGenerator<Frame> {
  if (!response.body) return
  const frames = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())
  const reader = frames.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield { event: value.event ?? "message", data: value.data, id: value.id }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

const MAX_WAIT_MS = 30_000

/**
 * Follows a stream of events until the returned function is called: after a lost connection it resumes behind the last
 * event. EventSource cannot send the console's header, so this reads the stream by fetch.
 */
export function follow(path: string, onEvent: (frame: Frame) => void, onState: (isLive: boolean) => void): () => void {
  const abort = new AbortController()
  let lastId: string | undefined
  let waitMs = 500
  const run = async () => {
    while (!abort.signal.aborted) {
      try {
        const headers = { accept: "text/event-stream", ...(lastId !== undefined && { "last-event-id": lastId }) }
        const response = await call(path, { headers, signal: abort.signal })
        onState(true)
        waitMs = 500
        for await (const frame of readFrames(response)) {
          if (frame.id !== undefined) lastId = frame.id
          onEvent(frame)
        }
      } catch {
        // The next attempt follows below; the state says that the view is not live.
      }
      if (abort.signal.aborted) return
      onState(false)
      await new Promise((resolve) => setTimeout(resolve, waitMs))
      waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)
    }
  }
  void run()
  return () => abort.abort()
}
