import { invalidateKey } from "../../access/key-cache.ts"
import { newEntry } from "../../audit/entry.ts"
import type { Env } from "../../config/env.ts"
import { readOutbound } from "../../outbound/send.ts"
import { outboundDeps } from "../../outbound/settings.ts"
import { masterKeysOf } from "../../secrets/master-key.ts"
import { openSealed } from "../../secrets/workspace-key.ts"
import { tokenAad, type PullRow } from "../directory.ts"
import {
  afterPage,
  afterTimeout,
  afterTooLarge,
  type Cursor,
  isInactive,
  isListed,
  kindOf,
  type Next,
  nextPart,
  readMembers,
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
  findWithoutMembers,
  saveMembers,
  savePage,
  moveCursor,
  nextPhase,
  tokenKeyOf,
} from "./pull-store.ts"
import { PullFailure, type SyncJobRow } from "./sync-job.ts"
import { MEDIA_TYPE } from "../protocol/protocol.ts"
import { isUniqueViolation } from "../../support/rows.ts"

/**
 * Per response; a larger page is requested again in halves. What is stored of it is one SQL parameter of at most 2 MB.
 */
const MAX_RESPONSE_BYTES = 1_500_000
/** Requests by id per step. */
const BY_ID = 10

const pathOf = (kind: "users" | "groups") => (kind === "groups" ? "Groups" : "Users")

/** One step of a pull: reads a page, requests users or groups by id, or applies what was read. Throws a PullFailure. */
export async function pullStep(env: Env, job: SyncJobRow, now: number): Promise<void> {
  const directory = await findPullDirectory(env.DB, job)
  if (!directory) return job.pull_cursor === null ? nextPhase(env.DB, job) : dropPulled(env.DB, job)
  const cursor = cursorOf(job, directory)
  const requestPath = await nextRequestPath(env, directory, now)
  const { next, waitMs } = isListed(cursor)
    ? await readNext(env.DB, job, cursor, requestPath)
    : await requestById(env.DB, { job, directory, cursor, requestPath })
  if ("reason" in next) throw new PullFailure(`The directory ${directory.name} was not pulled: ${next.reason}.`)
  const version = directory.pull_version
  if ("cursor" in next) {
    return moveCursor(env.DB, job, { ...next.cursor, version }, waitMs === undefined ? undefined : now + waitMs)
  }
  const following = nextPart(cursor)
  if (following) return moveCursor(env.DB, job, { ...following, version })
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

/** The start if the URL or the token changed: what was read with the former ones is deleted and read again. */
function cursorOf({ pull_cursor: stored }: SyncJobRow, { pull_version: version }: PullRow): Cursor {
  const cursor = stored === null ? START : (JSON.parse(stored) as Cursor)
  return cursor.version === undefined || cursor.version === version ? cursor : START
}

type RequestPath = (path: string) => Promise<ReadResult<Record<string, unknown>>>
type Step = { next: Next; waitMs?: number }

/** The token is decrypted only here. */
async function nextRequestPath(env: Env, directory: PullRow, now: number): Promise<RequestPath> {
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
  const part = kindOf(cursor)
  if (cursor.startIndex === 1) await dropPulled(db, job, part)
  const response = await requestPath(`/${pathOf(part)}?startIndex=${cursor.startIndex}&count=${cursor.count}`)
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
    case "refused":
      return { next: { reason: result.reason } }
  }
}

/**
 * Requests users and groups that are missing in the lists, so that a list that ends early deactivates no one and deletes
 * no group; and groups that were listed without members.
 */
async function requestById(
  db: D1Database,
  {
    job,
    directory,
    cursor,
    requestPath,
  }: { job: SyncJobRow; directory: PullRow; cursor: Cursor; requestPath: RequestPath },
): Promise<Step> {
  const kind = kindOf(cursor)
  const isOfMembers = cursor.byId === "members"
  const position = { job, directoryId: directory.id, after: cursor.after, limit: BY_ID }
  const ids = await (isOfMembers ? findWithoutMembers(db, position) : findMissing(db, kind, position))
  const read: { id: string; members: string }[] = []
  let stopped: Step | undefined
  for (const id of ids) {
    const response = await requestPath(`/${pathOf(kind)}/${encodeURIComponent(id)}`)
    const members = isOfMembers ? membersOf(response) : absenceOf(response, kind)
    if (members.is === "read") read.push({ id, members: members.value })
    else stopped = members.is === "restart" ? { next: restart(cursor) } : afterFailedRead(cursor, members)
    if (stopped) break
  }
  if (isOfMembers) await saveMembers(db, job, read)
  const last = read.at(-1)
  const next: Next = last === undefined ? { done: true } : { cursor: { ...cursor, after: last.id, failures: 0 } }
  // Pages that were read before a `Retry-After` are not requested again.
  if (stopped?.waitMs !== undefined && last !== undefined) return { next, waitMs: stopped.waitMs }
  return stopped ?? { next }
}

type ById = ReadResult<string> | { is: "restart" }

function membersOf(response: ReadResult<Record<string, unknown>>): ById {
  if (response.is === "absent") return { is: "restart" }
  return response.is === "read" ? readMembers(response.value) : response
}

/** Read if the resource is really gone; a restart if the list was wrong. */
function absenceOf(response: ReadResult<Record<string, unknown>>, kind: "users" | "groups"): ById {
  const isGone = response.is === "absent" || (response.is === "read" && kind === "users" && isInactive(response.value))
  if (isGone) return { is: "read", value: "" }
  return response.is === "read" ? { is: "restart" } : response
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
