import { dataOf, DONE, DONE_FRAME, FrameSplitter, toFrame } from "../../formats/sse/frames.ts"
import { concat } from "../../support/bytes.ts"
import { isObject, parseJson } from "../../support/text/json.ts"
import { logError } from "../../support/log.ts"
import { finalChunk, finishChunk, placeholderModel, type Spelling } from "../run/chunks.ts"
import { CONNECTION_LOST } from "../run/endings.ts"

const BLANK_LINE = new TextEncoder().encode("\n\n")

type Read = { id: string; created: number; model: string; isFirst: boolean; isOver: boolean }

/**
 * Forwards the stream of an intern's object unchanged. If the object is lost during the stream, ends it with an error
 * chunk, the session chunk and `[DONE]`.
 */
export function withErrorEnd(
  body: ReadableStream<Uint8Array>,
  session: string | null,
  spelling: Spelling,
): ReadableStream<Uint8Array> {
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader()
  const splitter = new FrameSplitter()
  const read: Read = {
    id: `chatcmpl-${crypto.randomUUID()}`,
    created: Math.floor(Date.now() / 1_000),
    model: placeholderModel(spelling),
    isFirst: true,
    isOver: false,
  }
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (done) return controller.close()
        for (const frame of splitter.push(value)) note(read, dataOf(frame))
        controller.enqueue(value)
      } catch (cause) {
        logError("an intern was lost in the middle of a turn", {}, cause)
        if (!read.isOver) controller.enqueue(connectionLostFrames(read, session))
        controller.close()
      }
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

/** Notes the common fields of all chunks from the first one. */
function note(read: Read, data: string | undefined): void {
  if (data === undefined) return
  read.isOver ||= data === DONE
  const chunk = read.isFirst ? parseJson(data) : undefined
  if (!isObject(chunk)) return
  read.isFirst = false
  const { id, created, model } = chunk
  if (typeof id === "string") read.id = id
  if (typeof created === "number") read.created = created
  if (typeof model === "string") read.model = model
}

/** Starts with a blank line, which ends an incomplete frame. */
function connectionLostFrames({ id, created, model, isFirst }: Read, session: string | null): Uint8Array {
  const head = { id, created }
  const chunks = [finishChunk(head, model, CONNECTION_LOST, isFirst), finalChunk(head, model, session, null)]
  return concat([BLANK_LINE, ...chunks.map((chunk) => toFrame(chunk)), DONE_FRAME])
}
