import type { LookupResult } from "../outbound/send.ts"
import { isObject } from "../support/json.ts"
import { parseRetryAfter } from "../support/retry-after.ts"
import { ScimError } from "./errors.ts"
import { readGroup } from "./group.ts"
import { readUser } from "./user.ts"
import { foldNames } from "./protocol.ts"

/** Progress of a pull: users, groups, then the missing users one by one. */
export type Cursor = {
  part: "users" | "groups" | "missing"
  /** Of the next page, from 1. */
  startIndex: number
  count: number
  /** The total that earlier pages reported. */
  total: number | null
  /** The last missing user that was requested. */
  after: string
  /** Restarts of a list, and consecutive failures of the service. */
  restarts: number
  failures: number
}

const PAGE = 100
const MAX_RESTARTS = 3
const MAX_FAILURES = 5
const MIN_WAIT_MS = 1_000
const MAX_WAIT_MS = 300_000

export const START: Cursor = {
  part: "users",
  startIndex: 1,
  count: PAGE,
  total: null,
  after: "",
  restarts: 0,
  failures: 0,
}

/** A user or group that was read, as a row of scim_pulled. */
export type PulledPage = {
  remote_id: string
  name: string
  external_id: string | null
  active?: number
  email?: string | null
  first_name?: string | null
  last_name?: string | null
  attributes?: string
  members?: string
}

/** The result of a response. `reason`: shown to users, without text from the service. */
export type ReadResult<T> =
  | { is: "read"; value: T }
  | { is: "absent" }
  | { is: "too-large" }
  | { is: "later"; ms: number; reason: string }
  | { is: "refused"; reason: string }

type Page = { total: number; items: PulledPage[] }

export function readResponse(found: LookupResult, now: number): ReadResult<Record<string, unknown>> {
  if (found.status === null) return { is: "later", ms: MIN_WAIT_MS, reason: found.reason }
  const { status, headers, body } = found
  const text = `it answered ${status}`
  if (status === 404) return { is: "absent" }
  if (status === 429 || status >= 500) return { is: "later", ms: waitOf(headers, now), reason: text }
  if (status !== 200) return { is: "refused", reason: text }
  if (!body) return { is: "too-large" }
  const value = parse(body)
  return isObject(value) ? { is: "read", value } : { is: "refused", reason: "its answer is not a JSON object" }
}

/** Milliseconds, clamped. */
function waitOf(headers: Headers, now: number): number {
  return Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, parseRetryAfter(headers, now) ?? MIN_WAIT_MS))
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body))
  } catch {
    return undefined
  }
}

export function readPage(part: "users" | "groups", answer: Record<string, unknown>): ReadResult<Page> {
  const { totalresults: total, resources = [] } = foldNames(answer)
  if (typeof total !== "number" || !Number.isInteger(total) || total < 0 || !Array.isArray(resources)) {
    return { is: "refused", reason: "its answer is not a SCIM list" }
  }
  try {
    return { is: "read", value: { total, items: resources.map(part === "users" ? toUser : toGroup) } }
  } catch (cause) {
    if (!(cause instanceof ScimError)) throw cause
    return { is: "refused", reason: `one of its ${part} cannot be read: ${cause.message}` }
  }
}

function toUser(resource: unknown): PulledPage {
  const { id, body } = toResource(resource)
  const { user_name: name, ...fields } = readUser(body)
  return { remote_id: id, name, ...fields }
}

function toGroup(resource: unknown): PulledPage {
  const { id, body } = toResource(resource)
  const { displayName, externalId, members } = readGroup(body)
  return {
    remote_id: id,
    name: displayName,
    external_id: externalId,
    members: JSON.stringify([...members.added]),
  }
}

function toResource(resource: unknown): { id: string; body: Record<string, unknown> } {
  const body = isObject(resource) ? resource : {}
  const { id } = foldNames(body)
  if (typeof id === "string" && id !== "" && id.length <= 1_024) return { id, body }
  throw new ScimError(400, "id: must be a string of 1 to 1024 characters.")
}

/** The next step: another cursor, the end of this part, or why the directory is not pulled. */
export type Next = { cursor: Cursor } | { done: true } | { reason: string }

/** `savedCount`: how many resources of the part are stored, this page included. */
export function afterPage(cursor: Cursor, { total, items }: Page, savedCount: number): Next {
  // A change between two pages shifts them: a user is missing or listed twice.
  const isChanged = cursor.total !== null && cursor.total !== total
  const startIndex = cursor.startIndex + items.length
  const isEnd = startIndex > total
  if (isChanged || (items.length === 0 && !isEnd) || (isEnd && savedCount !== total)) return restart(cursor)
  return isEnd ? { done: true } : { cursor: { ...cursor, startIndex, total, failures: 0 } }
}

/** Reads the part again from its beginning, so that missed resources are found. */
export function restart(cursor: Cursor): Next {
  const part = cursor.part === "missing" ? "users" : cursor.part
  if (cursor.restarts < MAX_RESTARTS) return { cursor: { ...START, part, restarts: cursor.restarts + 1 } }
  return { reason: `its list of ${part} ends early, or changes with every read` }
}

export function afterTimeout(cursor: Cursor, text: string): Next {
  if (cursor.failures + 1 < MAX_FAILURES) return { cursor: { ...cursor, failures: cursor.failures + 1 } }
  return { reason: `${text}, ${MAX_FAILURES} times in a row` }
}

export function afterTooLarge(cursor: Cursor): Next {
  if (cursor.count > 1) return { cursor: { ...cursor, count: Math.floor(cursor.count / 2) } }
  return { reason: `one of its ${cursor.part} is larger than the gateway reads` }
}
