import { isFinal } from "../../src/batches/batch.ts"
import { parseInput } from "../../src/batches/input.ts"
import { moveBatch, readBatch, saveProgress } from "../../src/batches/progress-store.ts"
import { recoverInterrupted, runLines } from "../../src/batches/run.ts"
import type { BatchRow } from "../../src/batches/table.ts"
import { logError } from "../../src/support/log.ts"
import { wait } from "../../src/support/time/time.ts"
import type { AdvanceDeps } from "./deps.ts"
import { advanceAtProvider } from "./provider.ts"
import { finishBatch } from "./output.ts"
import { inputKeyOf, runRequest } from "./request.ts"

/** Time of an alarm in which lines may start. With the longest call, it is below the limit of an alarm (15 minutes). */
const SLICE_MS = 120_000
const SAVE_EVERY_MS = 2_000

/** Advances a batch. Returns the time of the next step; null if the batch has ended. */
export async function advanceBatch(id: string, deps: AdvanceDeps): Promise<number | null> {
  const { env } = deps
  const row = await readBatch(env.DB, id)
  if (!row || isFinal(row.status)) return null
  if (areLinesLost(row, deps)) return failLost(row, deps)
  // Also a batch that was cancelled first, so that each request has a result.
  const isUnread = row.status === "cancelling" && deps.lines.progress().total === 0
  const validated = row.status === "validating" || isUnread ? await validate(row, deps) : row
  if (isFinal(validated.status)) return null
  const { provider } = validated.origin
  if (provider !== undefined && validated.status !== "finalizing") {
    const next = await advanceAtProvider({ ...deps, row: validated, provider, parts: deps.parts() })
    return typeof next === "number" ? next : finishBatch(next, { row: validated, lines: deps.lines, env })
  }
  if (validated.status === "in_progress") return run(validated, deps)
  return finish(validated, deps)
}

/** The storage of the object was lost, or the database was restored to a time before the end of the batch. */
function areLinesLost({ reached, progress }: BatchRow, { lines }: AdvanceDeps): boolean {
  // A batch that was cancelled before its input was read has no lines yet.
  const wasRead = reached.in_progress !== undefined
  return wasRead && (progress.total ?? 0) > 0 && lines.progress().total === 0
}

/** The requests are not repeated, since those with a result were charged. */
async function failLost({ id }: BatchRow, { env }: AdvanceDeps): Promise<null> {
  const message = `The results of this batch were lost. GET /calls?session_id=${id} lists the calls that were charged.`
  const errors = [{ code: "results_lost", message, param: null, line: null }]
  await moveBatch(env.DB, id, {
    from: ["in_progress", "finalizing", "cancelling"],
    to: "failed",
    now: Date.now(),
    errors,
  })
  return null
}

async function validate(row: BatchRow, { env, lines }: AdvanceDeps): Promise<BatchRow> {
  const { id, endpoint } = row
  const stored = await env.FILES.get(inputKeyOf(row))
  const missing = { code: "input_file_unavailable", message: "The input file was deleted.", param: null, line: null }
  const input = stored ? await parseInput(stored.body, endpoint) : { lines: [], errors: [missing] }
  const now = Date.now()
  const from = ["validating"] as const
  if (input.errors.length === 0) lines.fill(input.lines)
  const moved =
    input.errors.length > 0
      ? await moveBatch(env.DB, id, { from, to: "failed", now, errors: input.errors })
      : await moveBatch(env.DB, id, { from, to: "in_progress", now, progress: lines.progress() })
  // Cancelled meanwhile.
  return moved ?? { ...row, status: "cancelling" }
}

async function run(row: BatchRow, deps: AdvanceDeps): Promise<number | null> {
  const { env, lines, executionCtx, isWoken } = deps
  recoverInterrupted(lines, Date.now())
  const sliceEnd = Math.min(Date.now() + SLICE_MS, row.expiresAt)
  let [savedAt, saving] = [Date.now(), Promise.resolve()]
  const save = async () => {
    await saveProgress(env.DB, row.id, { progress: lines.progress(), now: Date.now() })
  }
  const resumeAt = await runLines({
    queue: lines,
    run: (line) => runRequest(line, { row, env, executionCtx }),
    now: Date.now,
    mayStart: () => !isWoken() && Date.now() < sliceEnd,
    onStep: () => {
      if (Date.now() - savedAt >= SAVE_EVERY_MS) {
        savedAt = Date.now()
        const saved = saving.then(save)
        saving = saved.catch((cause: unknown) => logError("batch progress was not saved", { batch: row.id }, cause))
      }
      // workerd accepts no requests while it has ready work, as with simulated models. A timer lets it accept some.
      return wait(0)
    },
    expiresAt: row.expiresAt,
  })
  await saving
  await save()
  const now = Date.now()
  if (isWoken()) return now
  if (lines.unfinished() > 0 && now < row.expiresAt) {
    return Math.min(Math.max(lines.nextDueAt() ?? now, resumeAt), row.expiresAt)
  }
  const moved = await moveBatch(env.DB, row.id, { from: ["in_progress"], to: "finalizing", now })
  return finish(moved ?? { ...row, status: "cancelling" }, deps)
}

async function finish(row: BatchRow, deps: AdvanceDeps): Promise<number | null> {
  const ending = row.status === "cancelling" ? "cancelled" : deps.lines.unfinished() > 0 ? "expired" : "completed"
  return finishBatch(ending, { row, lines: deps.lines, env: deps.env })
}
