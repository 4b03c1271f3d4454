import { linesOf } from "../../src/batches/input.ts"
import type { BatchResult } from "../../src/batches/providers/provider-batch.ts"
import { ProviderBatchError } from "../../src/batches/providers/provider-client.ts"
import { type LineResult, withoutResponse } from "../../src/batches/result.ts"
import { isCount, isObject, type Json, parseJson } from "../../src/support/text/json.ts"
import type { ProviderDeps, SubmittingDeps } from "./deps.ts"
import type { MessageFilter } from "../../src/providers/responses/rejection.ts"
import { deferralFor, release } from "./hold-requests.ts"
import type { Part } from "./parts.ts"
import { messageFilterOf, toClientMessage } from "./provider-messages.ts"
import { runRequest } from "./request.ts"

/** Number of results that are read, charged and stored concurrently. */
const CONCURRENCY = 16
/** Attempts to read results that are missing or cannot be processed. */
const MAX_FAILURES = 5
/** Statuses of a part of the gateway that is not available. */
const UNAVAILABLE: ReadonlySet<number | undefined> = new Set([429, 503])
const MAX_RESULT_BYTES = 16 * 1024 * 1024

/**
 * Reads the files of an ended batch. Each result goes through the pipeline as the response to its request, where it is
 * charged, recorded and screened. False if `mayContinue` stopped it; the next run skips stored results.
 */
export async function collect(part: Part, deps: SubmittingDeps, mayContinue: () => boolean): Promise<boolean> {
  const missing = new Set(deps.parts.unfinished(part))
  const isLastTry = part.failures >= MAX_FAILURES
  let running: Promise<boolean>[] = []
  let areStored = true
  const waitForRunning = async () => {
    const stored = await Promise.all(running)
    running = []
    areStored = areStored && !stored.includes(false)
  }
  for (const fileId of [part.output_file_id, part.error_file_id]) {
    if (fileId === null) continue
    try {
      for await (const result of resultsIn(fileId, deps)) {
        if (!missing.delete(result.line)) continue
        running.push(store(result, { ...deps, isLastTry }))
        if (running.length < CONCURRENCY) continue
        await waitForRunning()
        if (!mayContinue()) return false
      }
    } finally {
      await waitForRunning()
    }
  }
  if (!areStored) throw new ProviderBatchError("Results of the provider could not be stored.")
  // The files of a completed batch have every result: without one, the download was cut.
  if (missing.size > 0 && part.status === "completed" && !isLastTry) {
    throw new ProviderBatchError(`The provider's files lack the results of ${missing.size} requests.`)
  }
  await withoutResults(part, deps)
  return true
}

/** The results in a file of the provider, without lines that cannot be read. */
async function* resultsIn(fileId: string, { batches }: SubmittingDeps): AsyncGenerator<BatchResult> {
  const lines = linesOf(await batches.content(fileId), MAX_RESULT_BYTES)
  for (;;) {
    const next = await lines.next().catch(() => {
      throw new ProviderBatchError("The connection was lost before all results were read.")
    })
    if (next.done) return
    const result = batches.toResult(parseJson(next.value.text ?? ""))
    if (result) yield result
  }
}

/** False if a part of the gateway was not available: the response is kept for a later attempt. */
async function store(
  { line, response, error }: BatchResult,
  deps: SubmittingDeps & { isLastTry: boolean },
): Promise<boolean> {
  const { lines, row, env, executionCtx } = deps
  const input = lines.unfinishedLine(line)
  if (!input) return true
  if (!response) {
    await release([line], deps)
    lines.finish(input, asFailure(error, await messageFilterOf(row, env)))
    return true
  }
  const { body } = response
  const status = statusOf(response)
  const deferral = {
    ...deferralFor(deps, line),
    byok: deps.credential,
    kept: deps.parts.keptCall(line),
    response: () => Response.json(body, { status }),
  }
  const { retryAfterMs, ...result } = await runRequest(input, { row, env, executionCtx }, deferral)
  const isUnavailable = UNAVAILABLE.has(result.response?.status_code)
  if (status < 300 && retryAfterMs !== undefined && (isUnavailable || !deps.isLastTry)) return false
  lines.finish(input, result)
  return true
}

/** The status of a result, if it is valid for a response with a body. */
function statusOf({ status_code: status }: Json): number {
  const isUsable = isCount(status) && status >= 200 && status <= 599 && ![204, 205, 304].includes(status)
  return isUsable ? status : 502
}

function asFailure(error: unknown, filter: MessageFilter): LineResult {
  const { code, message } = isObject(error) ? error : {}
  return withoutResponse(
    (typeof code === "string" ? filter(code) : undefined) ?? "provider_failed",
    typeof message === "string" ? toClientMessage(message, filter) : "The provider has no response to this request.",
  )
}

/** Requests without a response are not charged. Those of a batch that ended early get their result when it ends. */
async function withoutResults(part: Part, deps: ProviderDeps): Promise<void> {
  const unfinished = deps.parts.unfinished(part)
  await release(unfinished, deps)
  if (part.status === "expired" || part.status === "cancelled") return
  const message =
    part.message === null
      ? "The batch of the provider has no result for this request."
      : toClientMessage(part.message, await messageFilterOf(deps.row, deps.env))
  for (const line of unfinished) {
    const input = deps.lines.unfinishedLine(line)
    if (input) deps.lines.finish(input, withoutResponse("provider_failed", message))
  }
}
