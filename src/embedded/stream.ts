import { closingChunks, openingChunks, pieceChunks, type Completion } from "./completion.ts"
import type { Fault } from "./faults.ts"
import type { CompletionEncoder } from "./formats/encoder.ts"

/** Next step of a stream. A `wait` counts from the start of the body, so that delays do not add up. */
export type Step =
  | { type: "write"; bytes: Uint8Array }
  | { type: "wait"; untilMs: number }
  | { type: "stall" }
  | { type: "break" }

export const PACE_MS = 20
const PIECES_BEFORE_FAULT = 10
/** Bytes written in the same turn as the error never reach a socket. */
const FLUSH_MS = 100
/** Models with the speed of a large one. */
const PACED = new Set(["paced", "agent"])

const encoder = new TextEncoder()

/** A completion as server-sent events. */
export function* streamSteps(completion: Completion, encoder: CompletionEncoder): Generator<Step> {
  const { request, fault } = completion
  if (fault.instead === "error") return yield* emit(encoder.failure(), fault)
  for (const chunk of openingChunks(completion)) yield* emit(encoder.chunk(chunk), fault)

  const pieces = pieceChunks(completion)
  for (let at = 0; !fault.afterTen || at < PIECES_BEFORE_FAULT; at++) {
    const { value: chunk, done } = pieces.next()
    if (done) break
    if (PACED.has(request.model)) yield { type: "wait", untilMs: (at + 1) * PACE_MS }
    yield* emit(encoder.chunk(chunk), fault)
  }
  if (fault.afterTen === "error") return yield* emit(encoder.failure(), fault)
  if (fault.afterTen === "stall") return yield { type: "stall" }
  if (fault.afterTen === "break") {
    const remaining = [...pieces, ...closingChunks(completion)].flatMap(encoder.chunk)
    return yield* breakInside([...remaining, ...encoder.end()][0] ?? "")
  }

  for (const chunk of closingChunks(completion)) yield* emit(encoder.chunk(chunk), fault)
  yield* emit(encoder.end(), fault)
}

/** A JSON response, for faults of its bytes. */
export function* documentSteps(document: string, fault: Fault): Generator<Step> {
  if (fault.afterTen === "break") return yield* breakInside(document)
  if (fault.afterTen === "stall") {
    yield* write(document.slice(0, document.length / 2), fault)
    return yield { type: "stall" }
  }
  yield* write(document, fault)
}

/** Runs steps as fast as the reader consumes them, and stops at once when the reader disconnects. */
export function play(steps: Iterator<Step>, signal: AbortSignal): ReadableStream<Uint8Array> {
  const cancelled = new AbortController()
  const disconnected = AbortSignal.any([signal, cancelled.signal])
  const startedAt = Date.now()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        while (!disconnected.aborted) {
          const { value: step, done } = steps.next()
          if (done) return controller.close()
          if (step.type === "write") return controller.enqueue(step.bytes)
          await sleep(toDelayMs(step, startedAt), disconnected)
          if (step.type === "break") return controller.error(new Error("The connection was reset."))
        }
      },
      cancel() {
        cancelled.abort()
      },
    },
    { highWaterMark: 0 },
  )
}

/** Resolves after `ms` milliseconds, or as soon as the signal aborts. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0 || signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer)
      signal.removeEventListener("abort", finish)
      resolve()
    }
    // A timer even for an endless wait: the runtime ends a request that waits for nothing.
    const timer = setTimeout(finish, Math.min(ms, 2 ** 31 - 1))
    signal.addEventListener("abort", finish)
  })
}

/** Splits bytes after the first byte of every multi-byte character. */
export function splitCharacters(bytes: Uint8Array): Uint8Array[] {
  const cuts = [...bytes.keys()].filter((at) => (bytes[at - 1] ?? 0) >= 0xc0)
  return [0, ...cuts].map((start, i) => bytes.subarray(start, cuts[i] ?? bytes.length))
}

function toDelayMs(step: Exclude<Step, { type: "write" }>, startedAt: number): number {
  switch (step.type) {
    case "wait":
      return startedAt + step.untilMs - Date.now()
    case "break":
      return FLUSH_MS
    case "stall":
      return Infinity
  }
}

function* emit(frames: readonly string[], fault: Fault): Generator<Step> {
  for (const frame of frames) yield* write(frame, fault)
}

function* write(text: string, { split }: Fault): Generator<Step> {
  const bytes = encoder.encode(text)
  if (split === "bytes") for (const byte of bytes) yield { type: "write", bytes: Uint8Array.of(byte) }
  else if (split === "characters") for (const part of splitCharacters(bytes)) yield { type: "write", bytes: part }
  else yield { type: "write", bytes }
}

function* breakInside(text: string): Generator<Step> {
  yield* write(text.slice(0, text.length / 2), {})
  yield { type: "break" }
}
