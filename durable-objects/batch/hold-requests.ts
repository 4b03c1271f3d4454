import type { LineResult } from "../../src/batches/result.ts"
import { type LineQueue, recoverInterrupted, runLines } from "../../src/batches/run.ts"
import type { InputLine } from "../../src/batches/input.ts"
import type { BatchRow } from "../../src/batches/table.ts"
import { GatewayError } from "../../src/errors/errors.ts"
import type { Deferral, KeptCall, Submission } from "../../src/inference/deferred/deferral.ts"
import { openLedger } from "../../src/ledger/client.ts"
import { derivedIdAt } from "../../src/support/ids.ts"
import { wait } from "../../src/support/time/time.ts"
import { apiFormOf } from "./access.ts"
import type { ProviderDeps } from "./deps.ts"
import { runRequest } from "./request.ts"

const HOUR_MS = 3_600_000
/** Additional time: the provider has 24 hours after the submission, and then its results must be read. */
export const GRACE_MS = 2 * HOUR_MS
const HOLD_MARGIN_MS = 4 * HOUR_MS
/** Number of holds that are released concurrently. */
const RELEASES = 16
/** Time of an alarm in which requests may start. */
const SLICE_MS = 120_000

/** Constant in all steps, so that a request has one hold and one charge. */
export function generationIdOf({ id, createdAt }: BatchRow, line: number): string {
  return `gen-${derivedIdAt(createdAt, "batch generation", id, String(line))}`
}

type Common = Pick<Deferral, "generationId" | "provider" | "holdTtlMs">

export function deferralFor({ row, provider }: ProviderDeps, line: number): Common {
  const holdTtlMs = Math.max(0, row.expiresAt - Date.now()) + HOLD_MARGIN_MS
  return { generationId: generationIdOf(row, line), provider, holdTtlMs }
}

/**
 * Runs the requests of the batch through the pipeline up to their hold, and stores the upstream requests. Returns the
 * time of the next step; null if every request is held or has failed.
 */
export async function holdRequests(deps: ProviderDeps): Promise<number | null> {
  const { row, lines, parts, env, executionCtx, isWoken } = deps
  const queue: LineQueue = {
    take: (now) => lines.take(now),
    retry: (line, dueAt) => lines.retry(line, dueAt),
    defer: (line, dueAt) => lines.defer(line, dueAt),
    finish: (line, result) => {
      if (!result.isDeferred) lines.finish(line, result)
    },
    interruptedLines: () => lines.interruptedLines().filter(({ line }) => !parts.has(line)),
  }
  // The plan may now choose another key, which needs another hold.
  await release(
    queue.interruptedLines().map(({ line }) => line),
    deps,
  )
  recoverInterrupted(queue, Date.now())
  const sliceEnd = Math.min(Date.now() + SLICE_MS, row.expiresAt)
  const resumeAt = await runLines({
    queue,
    run: (line) => holdRequest(line, deps, { row, env, executionCtx }),
    now: Date.now,
    mayStart: () => !isWoken() && Date.now() < sliceEnd,
    onStep: () => wait(0),
    expiresAt: row.expiresAt,
  })
  const now = Date.now()
  if (isWoken()) return now
  const dueAt = lines.nextDueAt()
  return dueAt === undefined || now >= row.expiresAt ? null : Math.min(Math.max(dueAt, resumeAt), row.expiresAt)
}

async function holdRequest(
  line: InputLine,
  deps: ProviderDeps,
  requestDeps: Parameters<typeof runRequest>[1],
): Promise<LineResult> {
  let isDeferred = false
  let kept: Partial<KeptCall> = {}
  const keep: Submission["keep"] = (some) => {
    kept = { ...kept, ...some }
  }
  const submit: Submission["submit"] = ({ path, body, credential, target }) => {
    const text = apiFormOf(deps)?.toLine({ line: line.line, path, body })
    if (text === undefined) throw new GatewayError("internal", "The provider of a batch is not configured.")
    deps.parts.add(line.line, { path, text, credential, target, call: kept })
    isDeferred = true
  }
  const skippedCredentials = deps.lines.skippedCredentials()
  const result = await runRequest(line, requestDeps, {
    ...deferralFor(deps, line.line),
    skippedCredentials,
    keep,
    submit,
  })
  return isDeferred ? { ...result, isDeferred } : result
}

/** Releases the holds of requests that will not run. */
export async function release(lines: readonly number[], { row, env }: ProviderDeps): Promise<void> {
  const ledger = openLedger(env, row.organizationId)
  for (let at = 0; at < lines.length; at += RELEASES) {
    const some = lines.slice(at, at + RELEASES)
    await Promise.all(some.map((line) => ledger.release(generationIdOf(row, line))))
  }
}
