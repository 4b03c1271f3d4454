import { type LineResult, withoutResponse } from "./result.ts"
import type { InputLine } from "./input.ts"

export const CONCURRENCY = 4
/** Runs of a request, including those whose isolate died. */
export const MAX_ATTEMPTS = 5
const FIRST_BACKOFF_MS = 1_000
const BACKOFF_FACTOR = 4

/** `attempt`: number of the run of this request, from 1. */
export type LineRun = InputLine & { attempt: number }

/** The requests of a batch. Each method is one durable step: its writes survive a crash. */
export type LineQueue = {
  /** Marks a due line as running. */
  take: (now: number) => LineRun | undefined
  retry: (line: LineRun, dueAt: number) => void
  /** Like `retry`, but this run does not count as an attempt. */
  defer: (line: LineRun, dueAt: number) => void
  finish: (line: InputLine, result: LineResult) => void
  /** Lines that an isolate that died had marked as running. */
  interruptedLines: () => LineRun[]
}

export type RunPorts = {
  queue: LineQueue
  run: (line: LineRun) => Promise<LineResult>
  now: () => number
  /** False once no further line may start. */
  mayStart: () => boolean
  /** Called after each line. Resolves once other work of the runtime has run. */
  onStep: () => Promise<unknown>
  expiresAt: number
}

/**
 * Runs due lines, at most CONCURRENCY at a time, until none is due or none may start, and waits for those in flight. A
 * line is marked before it runs and finished with its result in one step: a finished line never runs again; one that
 * was in flight when the isolate died does. Returns when the next line may start: a rate limit pauses all lines.
 */
export async function runLines(ports: RunPorts): Promise<number> {
  let pausedUntil = 0
  const worker = async () => {
    while (ports.mayStart() && ports.now() >= pausedUntil) {
      const line = ports.queue.take(ports.now())
      if (!line) return
      const result = await ports.run(line)
      pausedUntil = Math.max(pausedUntil, settleLine(line, result, ports))
      await ports.onStep()
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
  return pausedUntil
}

/** Returns until when the batch pauses; 0 for no pause. */
function settleLine(line: LineRun, result: LineResult, { queue, now, expiresAt }: RunPorts): number {
  const { retryAfterMs } = result
  if (result.isRateLimited) {
    const resumeAt = now() + Math.max(retryAfterMs ?? 0, FIRST_BACKOFF_MS)
    queue.defer(line, resumeAt)
    return resumeAt
  }
  const dueAt = now() + Math.max(retryAfterMs ?? 0, backoffMs(line.attempt))
  if (retryAfterMs === undefined || line.attempt >= MAX_ATTEMPTS || dueAt >= expiresAt) queue.finish(line, result)
  else queue.retry(line, dueAt)
  return 0
}

export function backoffMs(attempt: number): number {
  return FIRST_BACKOFF_MS * BACKOFF_FACTOR ** (attempt - 1)
}

/** Called before the first run of an isolate: lines that are marked as running were interrupted. */
export function recoverInterrupted(queue: LineQueue, now: number): void {
  for (const line of queue.interruptedLines()) {
    if (line.attempt < MAX_ATTEMPTS) queue.retry(line, now)
    else queue.finish(line, INTERRUPTED)
  }
}

const INTERRUPTED = withoutResponse("interrupted", `The request was interrupted ${MAX_ATTEMPTS} times.`)
