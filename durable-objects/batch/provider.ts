import { moveBatch, saveProgress } from "../../src/batches/progress-store.ts"
import type { BatchError } from "../../src/batches/batch.ts"
import {
  type BatchSource,
  hasEnded,
  type ProviderBatch,
  type ProviderBatches,
} from "../../src/batches/providers/provider-batch.ts"
import { ProviderBatchError } from "../../src/batches/providers/provider-client.ts"
import { withoutResponse } from "../../src/batches/result.ts"
import { logWarning } from "../../src/support/log.ts"
import { accessTo } from "./access.ts"
import { collect } from "./collect.ts"
import type { ProviderDeps, SubmittingDeps } from "./deps.ts"
import { GRACE_MS, holdRequests, release } from "./hold-requests.ts"
import type { Part } from "./parts.ts"

/** Time of an alarm in which results are read. */
const SLICE_MS = 120_000
/** Bounds of the polling interval, which is a tenth of the age of the batch. */
const POLL_MS = { least: 5_000, most: 60_000 }
/** Code of requests and batches whose BYOK credential cannot be used. */
const CREDENTIAL_FAILED = "byok_unavailable"
const FIRST_RETRY_MS = 5_000
const MAX_RETRY_MS = 300_000

type Ending = "completed" | "cancelled" | "expired"

/**
 * Advances a batch whose requests run in provider batches. Returns the time of the next step, or the ending of the
 * batch when all results are stored. Each step is stored before the next one, so that it can be repeated after a crash.
 */
export async function advanceAtProvider(deps: ProviderDeps): Promise<number | Ending> {
  const { row, lines, parts, env } = deps
  const isCancelling = row.status === "cancelling"
  if (lines.fact("is_held") === undefined && !isCancelling) {
    const next = await holdRequests(deps)
    if (next !== null) return next
    if (Date.now() < row.expiresAt) parts.plan()
    lines.setFact("is_held", "true")
  }
  // Releases requests that were cancelled or expired before they were in a part.
  await release(parts.unplanned(), deps)
  const next = await advanceParts(deps)
  await saveProgress(env.DB, row.id, { progress: lines.progress(), errors: errorsOf(parts), now: Date.now() })
  if (next !== null) return next
  if (isCancelling) return "cancelled"
  const moved = await moveBatch(env.DB, row.id, { from: ["in_progress"], to: "finalizing", now: Date.now() })
  if (!moved) return "cancelled"
  return lines.unfinished() > 0 ? "expired" : "completed"
}

/** Errors for the owners of credentials that a batch waits for. */
function errorsOf(parts: ProviderDeps["parts"]): BatchError[] {
  const notes = new Set(parts.open().flatMap(({ note }) => note ?? []))
  return [...notes].map((message) => ({ code: CREDENTIAL_FAILED, message, param: null, line: null }))
}

async function advanceParts(deps: ProviderDeps): Promise<number | null> {
  const dueTimes: number[] = []
  for (const part of deps.parts.open()) dueTimes.push(await advanceOpen(part, deps))
  const open = dueTimes.filter((at) => at !== DONE)
  return open.length > 0 ? Math.min(...open) : null
}

const DONE = Number.POSITIVE_INFINITY

/** Advances a part as far as its key allows. Returns the time of the next step. */
async function advanceOpen(part: Part, deps: ProviderDeps): Promise<number> {
  const { row, parts } = deps
  if (part.due_at > Date.now() && !deps.isUrgent) return part.due_at
  if (part.state === "passed_over") return planAgain(part, deps)
  const isLate = Date.now() > row.expiresAt + GRACE_MS
  const access = await accessTo(part, deps)
  if (access.isOpen && !isLate) return advancePart(part, { ...deps, ...access })
  const note = access.isOpen ? part.note : access.message
  const isLost = isLate || (!access.isOpen && access.isFinal) || row.status === "cancelling"
  if (!isCreated(part)) {
    if (part.credential !== null && note !== null && !isLate) return skipCredential(part, part.credential, note, deps)
    if (isLost) await release(parts.unfinished(part), deps)
  }
  if (!isLost) return parts.change(part, { note, due_at: Date.now() + POLL_MS.most }).due_at
  giveUp(part, note, deps)
  return DONE
}

/** Whether the batch may exist at the provider. */
const isCreated = ({ state }: Part) => state !== "ready" && state !== "uploaded"

/**
 * Gives up a part: work that the provider may have done is charged at its estimate when the holds expire. Requests of a
 * BYOK credential end with the reason.
 */
function giveUp(part: Part, note: string | null, { parts, lines }: ProviderDeps): void {
  for (const line of note === null ? [] : parts.unfinished(part)) {
    const input = lines.unfinishedLine(line)
    if (input) lines.finish(input, withoutResponse(CREDENTIAL_FAILED, note ?? ""))
  }
  parts.change(part, { state: "done", status: "expired" })
}

/** Tries the next key of the plan, as in a call: nothing was created with this one. */
function skipCredential(part: Part, credential: string, reason: string, { parts, lines }: ProviderDeps): number {
  lines.skipCredential(credential, reason)
  parts.change(part, { state: "passed_over" })
  return Date.now()
}

async function planAgain(part: Part, deps: ProviderDeps): Promise<number> {
  await release(deps.parts.unfinished(part), deps)
  deps.parts.putBack(part)
  return Date.now()
}

/** Advances one part as far as possible. Returns the time of the next step, or DONE if its results are stored. */
async function advancePart(part: Part, deps: SubmittingDeps): Promise<number> {
  const { parts } = deps
  let current = part
  try {
    if (current.state !== "submitted" && current.state !== "ended") current = await submit(current, deps)
    if (current.state === "submitted") current = await poll(current, deps)
    if (current.state !== "ended") return current.due_at
    const sliceEnd = Date.now() + SLICE_MS
    if (!(await collect(current, deps, () => Date.now() < sliceEnd && !deps.isWoken()))) return Date.now()
    await removeFiles(current, deps)
    parts.change(current, { state: "done" })
    return DONE
  } catch (thrown) {
    if (!(thrown instanceof ProviderBatchError)) throw thrown
    return afterFailure(parts.open().find((one) => one.part === part.part) ?? current, thrown, deps)
  }
}

/** Uploads the file and creates the provider batch, unless one was created before a crash. */
async function submit(part: Part, { row, parts, batches }: SubmittingDeps): Promise<Part> {
  const source: BatchSource = {
    part: part.part,
    path: part.path,
    fileId: part.file_id,
    content: () => parts.content(part),
    lines: () => parts.linesOf(part),
    createdAt: row.createdAt,
    taken: () => parts.idsOfOthers(part),
  }
  const created = part.state === "submitting" ? await findCreated(source, batches) : undefined
  if (created) return toSubmittedPart(part, created, parts)
  if (row.status === "cancelling") return parts.change(part, { state: "ended", status: "cancelled" })
  const fileId = part.file_id ?? (await batches.upload(`${row.id}-${part.part}.jsonl`, parts.content(part)))
  const submitting = parts.change(part, { state: "submitting", file_id: fileId })
  return toSubmittedPart(submitting, await batches.create({ ...source, fileId }), parts)
}

/** Finds a created batch. An error of the provider means that the batch may exist. */
async function findCreated(source: BatchSource, batches: ProviderBatches): Promise<ProviderBatch | undefined> {
  try {
    return await batches.find(source)
  } catch (thrown) {
    if (!(thrown instanceof ProviderBatchError)) throw thrown
    const { message, blamesKey, retryAfterMs } = thrown
    throw new ProviderBatchError(message, { blamesKey, retryAfterMs })
  }
}

function toSubmittedPart(part: Part, { id }: ProviderBatch, parts: ProviderDeps["parts"]): Part {
  return parts.change(part, { state: "submitted", batch_id: id, note: null, failures: 0, due_at: 0 })
}

async function poll(part: Part, { row, parts, batches }: SubmittingDeps): Promise<Part> {
  const id = part.batch_id ?? ""
  const mustCancel = row.status === "cancelling" && part.is_cancelled === 0
  let current = part
  let batch = await batches.retrieve(id)
  if (mustCancel && !hasEnded(batch)) {
    batch = await batches.cancel(id)
    current = parts.change(current, { is_cancelled: 1 })
  }
  if (!hasEnded(batch))
    return parts.change(current, { note: null, failures: 0, due_at: Date.now() + pollMs(row.createdAt) })
  const { status, message, outputFileId: output_file_id, errorFileId: error_file_id } = batch
  return parts.change(current, {
    state: "ended",
    status,
    message,
    output_file_id,
    error_file_id,
    note: null,
    failures: 0,
    due_at: 0,
  })
}

function pollMs(createdAt: number): number {
  return Math.min(POLL_MS.most, Math.max(POLL_MS.least, (Date.now() - createdAt) / 10))
}

/** A part that the provider rejects has no results; other failures are retried with increasing delays. */
function afterFailure(part: Part, failure: ProviderBatchError, deps: ProviderDeps): number {
  const { message, isFinal, blamesKey, retryAfterMs } = failure
  logWarning("a batch of a provider could not be advanced", { batch: deps.row.id, part: part.part, reason: message })
  const isOwners = blamesKey && part.credential !== null
  if (isFinal && part.batch_id === null && part.state !== "ended") {
    if (isOwners && part.credential !== null) return skipCredential(part, part.credential, message, deps)
    deps.parts.change(part, { state: "ended", status: "failed", message })
    return Date.now()
  }
  const failures = part.failures + 1
  const pauseMs = Math.max(retryAfterMs, Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** part.failures))
  const dueAt = Date.now() + pauseMs
  deps.parts.change(part, { failures, due_at: dueAt, note: isOwners ? message : part.note })
  return dueAt
}

/** Deletes the files, which contain client data. Best effort. */
async function removeFiles(
  { file_id: input, output_file_id: output, error_file_id: error }: Part,
  { batches }: SubmittingDeps,
) {
  for (const id of [input, output, error]) {
    if (id !== null)
      await batches.remove(id).catch(() => logWarning("a file of a provider was not deleted", { file: id }))
  }
}
