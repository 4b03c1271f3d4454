import { moveBatch, saveProgress } from "../../src/batches/progress-store.ts"
import { type BatchSource, hasEnded, type ProviderBatch } from "../../src/batches/provider-batch.ts"
import { ProviderBatchError } from "../../src/batches/provider-client.ts"
import { logWarning } from "../../src/support/log.ts"
import { collect, release } from "./collect.ts"
import type { ProviderDeps, SubmittingDeps } from "./deps.ts"
import { GRACE_MS, holdRequests } from "./hold-requests.ts"
import type { Part } from "./parts.ts"

/** Results are read within this time of an alarm. */
const SLICE_MS = 120_000
/** How often the provider is asked: a tenth of the age of the batch, within these. */
const POLL_MS = { least: 5_000, most: 60_000 }
const FIRST_RETRY_MS = 5_000
const MAX_RETRY_MS = 300_000

type Ending = "completed" | "cancelled" | "expired"

/**
 * Moves a batch on whose requests run in batches of its provider. Returns when to go on, or how the batch ends once all
 * results are stored. Each step is stored before the next one, so that it can be repeated after a crash.
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
  // Cancelled or expired before any part of it was made.
  if (parts.isEmpty()) await release(parts.unfinished(), deps)
  const next = await advanceParts(deps)
  await saveProgress(env.DB, row.id, { progress: lines.progress(), now: Date.now() })
  if (next !== null) return next
  if (isCancelling) return "cancelled"
  const moved = await moveBatch(env.DB, row.id, { from: ["in_progress"], to: "finalizing", now: Date.now() })
  if (!moved) return "cancelled"
  return lines.unfinished() > 0 ? "expired" : "completed"
}

async function advanceParts(deps: ProviderDeps): Promise<number | null> {
  const { batches } = deps
  const due: number[] = []
  for (const part of deps.parts.open()) {
    const isLate = Date.now() > deps.row.expiresAt + GRACE_MS
    // Nothing more is heard of it: what the provider may have done is charged at its estimate when the hold expires.
    if (!batches || isLate) deps.parts.change(part, { state: "done", status: "expired" })
    else due.push(await advancePart(part, { ...deps, batches }))
  }
  const open = due.filter((at) => at !== DONE)
  return open.length > 0 ? Math.min(...open) : null
}

const DONE = Number.POSITIVE_INFINITY

/** Takes one part as far as it goes now. Returns when to go on, DONE once its results are stored. */
async function advancePart(part: Part, deps: SubmittingDeps): Promise<number> {
  const { parts } = deps
  let current = part
  try {
    if (current.due_at > Date.now() && !deps.isUrgent) return current.due_at
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

/** Uploads and creates. What may have been created before a crash is looked for first. */
async function submit(part: Part, { row, parts, batches }: SubmittingDeps): Promise<Part> {
  const source: BatchSource = {
    part: part.part,
    path: part.path,
    fileId: part.file_id,
    content: () => parts.content(part),
    lines: () => parts.linesOf(part),
    createdAt: row.createdAt,
    taken: () => parts.idsBeside(part),
  }
  const known = part.state === "submitting" ? await batches.find(source) : undefined
  if (known) return submitted(part, known, parts)
  if (row.status === "cancelling") return parts.change(part, { state: "ended", status: "cancelled" })
  const fileId = part.file_id ?? (await batches.upload(`${row.id}-${part.part}.jsonl`, parts.content(part)))
  const submitting = parts.change(part, { state: "submitting", file_id: fileId })
  return submitted(submitting, await batches.create({ ...source, fileId }), parts)
}

function submitted(part: Part, { id }: ProviderBatch, parts: ProviderDeps["parts"]): Part {
  return parts.change(part, { state: "submitted", batch_id: id, failures: 0, due_at: 0 })
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
  if (!hasEnded(batch)) return parts.change(current, { failures: 0, due_at: Date.now() + pollMs(row.createdAt) })
  const { status, message, outputFileId: output_file_id, errorFileId: error_file_id } = batch
  return parts.change(current, {
    state: "ended",
    status,
    message,
    output_file_id,
    error_file_id,
    failures: 0,
    due_at: 0,
  })
}

function pollMs(createdAt: number): number {
  return Math.min(POLL_MS.most, Math.max(POLL_MS.least, (Date.now() - createdAt) / 10))
}

/** A part that the provider refuses has no results; any other fault is tried again, at growing intervals. */
function afterFailure(part: Part, { message, isFinal, retryAfterMs }: ProviderBatchError, deps: ProviderDeps): number {
  logWarning("a batch of a provider could not be advanced", { batch: deps.row.id, part: part.part, reason: message })
  if (isFinal && part.batch_id === null && part.state !== "ended") {
    deps.parts.change(part, { state: "ended", status: "failed", message })
    return Date.now()
  }
  const failures = part.failures + 1
  const pauseMs = Math.max(retryAfterMs, Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** part.failures))
  const dueAt = Date.now() + pauseMs
  deps.parts.change(part, { failures, due_at: dueAt })
  return dueAt
}

/** They have what clients sent and got. One that is left costs nothing. */
async function removeFiles(
  { file_id: input, output_file_id: output, error_file_id: error }: Part,
  { batches }: SubmittingDeps,
) {
  for (const id of [input, output, error]) {
    if (id !== null)
      await batches.remove(id).catch(() => logWarning("a file of a provider was not deleted", { file: id }))
  }
}
