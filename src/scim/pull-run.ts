import { invalidateKey } from "../access/key-cache.ts"
import { newEntry } from "../audit/entry.ts"
import type { Env } from "../config/env.ts"
import { readOutbound } from "../outbound/send.ts"
import { outboundDeps } from "../outbound/settings.ts"
import { masterKeysOf } from "../secrets/master-key.ts"
import { openSealed } from "../secrets/workspace-key.ts"
import { tokenAad, type PullRow } from "./directory.ts"
import {
  afterPage,
  afterTimeout,
  afterTooLarge,
  type Cursor,
  type Next,
  readResponse,
  type ReadResult,
  readPage,
  restart,
  START,
} from "./pull.ts"
import {
  applyPull,
  countPulled,
  dropPulled,
  findMissing,
  findPullDirectory,
  savePage,
  moveCursor,
  nextPhase,
  tokenKeyOf,
} from "./pull-store.ts"
import { PullFailure, type SyncJobRow } from "./sync-job.ts"
import { MEDIA_TYPE } from "./protocol.ts"
import { isUniqueViolation } from "../support/rows.ts"

/**
 * Per response; a larger page is requested again in halves. What is stored of it is one SQL parameter of at most 2 MB.
 */
const MAX_RESPONSE_BYTES = 1_500_000
/** Missing users requested per step. */
const MISSING = 20

/** One step of a pull: reads a page, requests missing users, or applies what was read. Throws a PullFailure. */
export async function pullStep(env: Env, job: SyncJobRow, now: number): Promise<void> {
  const directory = await findPullDirectory(env.DB, job)
  if (!directory) return job.pull_cursor === null ? nextPhase(env.DB, job) : dropPulled(env.DB, job)
  const cursor = job.pull_cursor === null ? START : (JSON.parse(job.pull_cursor) as Cursor)
  const requestPath = await pending(env, directory, now)
  const { next, waitMs } =
    cursor.part === "missing"
      ? await requestMissing(env.DB, { job, directory, cursor, requestPath })
      : await readNext(env.DB, job, cursor, requestPath)
  if ("reason" in next) throw new PullFailure(`The directory ${directory.name} was not pulled: ${next.reason}.`)
  if ("cursor" in next) return moveCursor(env.DB, job, next.cursor, waitMs === undefined ? undefined : now + waitMs)
  if (cursor.part === "users") return moveCursor(env.DB, job, { ...START, part: "groups", restarts: cursor.restarts })
  if (cursor.part === "groups") return moveCursor(env.DB, job, { ...START, part: "missing", restarts: cursor.restarts })
  const entry = newEntry(
    {
      organizationId: directory.organization_id,
      keyHash: directory.token_hash,
      label: `scim: ${directory.name}`,
      creatorUserId: null,
      ip: null,
      userAgent: null,
      requestId: job.id,
      at: now,
    },
    { action: "scim_directory.pull", resourceId: directory.id, workspaceId: null },
  )
  const disabled = await applyPull(env.DB, { job, directoryId: directory.id, now, entry }).catch(
    rejectDuplicate(directory),
  )
  for (const hash of disabled) invalidateKey(hash)
}

type RequestPath = (path: string) => Promise<ReadResult<Record<string, unknown>>>
type Step = { next: Next; waitMs?: number }

/** The token is decrypted only here. */
async function pending(env: Env, directory: PullRow, now: number): Promise<RequestPath> {
  const dataKey = await tokenKeyOf(env.DB, directory)
  const sealed = { aad: tokenAad(directory), sealed: directory.pull_sealed }
  const token = dataKey && (await openSealed({ ...sealed, dataKey }, masterKeysOf(env)))
  if (token === undefined) {
    throw new PullFailure(
      `The token of the directory ${directory.name} could not be decrypted. Connect the directory again.`,
    )
  }
  const deps = outboundDeps(env)
  const headers = { authorization: `Bearer ${token}`, accept: `${MEDIA_TYPE}, application/json` }
  return async (path) =>
    readResponse(await readOutbound({ url: directory.pull_url + path, headers }, deps, MAX_RESPONSE_BYTES), now)
}

async function readNext(db: D1Database, job: SyncJobRow, cursor: Cursor, requestPath: RequestPath): Promise<Step> {
  const part = cursor.part === "groups" ? "groups" : "users"
  const path = part === "groups" ? "Groups" : "Users"
  if (cursor.startIndex === 1) await dropPulled(db, job, part)
  const response = await requestPath(`/${path}?startIndex=${cursor.startIndex}&count=${cursor.count}`)
  if (response.is !== "read") return afterFailedRead(cursor, response)
  const page = readPage(part, response.value)
  if (page.is !== "read") return afterFailedRead(cursor, page)
  await savePage(db, job, part, page.value.items)
  return { next: afterPage(cursor, page.value, await countPulled(db, job, part)) }
}

function afterFailedRead(cursor: Cursor, result: Exclude<ReadResult<unknown>, { is: "read" }>): Step {
  switch (result.is) {
    case "later":
      return { next: afterTimeout(cursor, result.reason), waitMs: result.ms }
    case "too-large":
      return { next: afterTooLarge(cursor) }
    case "absent":
      return { next: { reason: "it answered 404" } }
    case "refused":
      return { next: { reason: result.reason } }
  }
}

/** Requests missing users by id, so that a shifted page deactivates no one. */
async function requestMissing(
  db: D1Database,
  {
    job,
    directory,
    cursor,
    requestPath,
  }: { job: SyncJobRow; directory: PullRow; cursor: Cursor; requestPath: RequestPath },
): Promise<Step> {
  const missing = await findMissing(db, { job, directoryId: directory.id, after: cursor.after, limit: MISSING })
  for (const id of missing) {
    const response = await requestPath(`/Users/${encodeURIComponent(id)}`)
    if (response.is === "read") return { next: restart(cursor) }
    if (response.is !== "absent") return afterFailedRead(cursor, response)
  }
  const last = missing.at(-1)
  return { next: last === undefined ? { done: true } : { cursor: { ...cursor, after: last, failures: 0 } } }
}

/** Nothing of the pull is applied in this case. */
function rejectDuplicate({ name }: PullRow) {
  return (cause: unknown): never => {
    if (!isUniqueViolation(cause)) throw cause
    const field = cause.message.includes("scim_users_name") ? "a userName" : "an address"
    throw new PullFailure(
      `The directory ${name} was not pulled: two of its users, or one and another member of the organization, have ${field} in common.`,
    )
  }
}
