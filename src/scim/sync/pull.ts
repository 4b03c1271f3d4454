import type { LookupResult } from "../../outbound/send.ts"
import { isObject } from "../../support/text/json.ts"
import { parseRetryAfter } from "../../support/time/retry-after.ts"
import { ScimError } from "../protocol/errors.ts"
import { readGroup } from "../resources/group.ts"
import { readUser } from "../resources/user.ts"
import { foldNames } from "../protocol/protocol.ts"

/**
 * Parts of a pull: both lists, then one by one the groups that were listed without members, and the users and groups
 * that are missing in the lists. The previous release, which may take over a job during a deployment, ignores `byId`: it
 * reads the list again.
 */
const PARTS: readonly Part[] = [
  { part: "users" },
  { part: "groups" },
  { part: "groups", byId: "members" },
  { part: "missing" },
  { part: "missing", byId: "groups" },
]
type Part = { part: "users" | "groups" | "missing"; byId?: "members" | "groups" }

/** Progress of a pull. */
export type Cursor = Part & {
  /** Index of the first item of the next page, from 1. */
  startIndex: number
  count: number
  /** The total that earlier pages reported. */
  total: number | null
  /** The last user or group that was requested by id. */
  after: string
  /** Restarts of a list, and consecutive failures of the service. */
  restarts: number
  failures: number
  /** `pull_version` of the directory that was read. Cursors of the previous release have none. */
  version?: string
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
  /** Null if the list has the group without its members. */
  members?: string | null
}

/** The result of a response. `reason`: shown to users, without text from the service. */
export type ReadResult<T> =
  | { is: "read"; value: T }
  | { is: "absent"; reason: string }
  | { is: "too-large" }
  | { is: "later"; ms: number; reason: string }
  | { is: "refused"; reason: string }

type Page = { total: number; items: PulledPage[] }

export function readResponse(found: LookupResult, now: number): ReadResult<Record<string, unknown>> {
  if (found.status === null) return { is: "later", ms: MIN_WAIT_MS, reason: found.reason }
  const { status, headers, body } = found
  const text = `it returned ${status}`
  if (status === 404 || status === 410) return { is: "absent", reason: text }
  if (status === 429 || status >= 500) return { is: "later", ms: waitOf(headers, now), reason: text }
  if (status !== 200) return { is: "refused", reason: text }
  if (!body) return { is: "too-large" }
  const value = parse(body)
  return isObject(value) ? { is: "read", value } : { is: "refused", reason: "its response is not a JSON object" }
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

export function readPage(part: "users" | "groups", body: Record<string, unknown>): ReadResult<Page> {
  const { totalresults: total, resources: listed } = foldNames(body)
  const resources = listed ?? []
  if (typeof total !== "number" || !Number.isInteger(total) || total < 0 || !Array.isArray(resources)) {
    return { is: "refused", reason: "its response is not a SCIM list" }
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
  const hasMembers = foldNames(body)["members"] != null
  return {
    remote_id: id,
    name: displayName,
    external_id: externalId,
    members: hasMembers ? JSON.stringify([...members.added]) : null,
  }
}

/** The members of a group that was requested by id, as JSON; without the attribute it has none. */
export function readMembers(resource: Record<string, unknown>): ReadResult<string> {
  const group = readPage("groups", { totalResults: 1, Resources: [resource] })
  return group.is === "read" ? { is: "read", value: group.value.items[0]?.members ?? "[]" } : group
}

/** Some services return a deactivated user by id, and do not list it. */
export function isInactive(user: Record<string, unknown>): boolean {
  return String(foldNames(user)["active"]).toLowerCase() === "false"
}

function toResource(resource: unknown): { id: string; body: Record<string, unknown> } {
  const body = isObject(resource) ? resource : {}
  const { id } = foldNames(body)
  if (typeof id === "string" && id !== "" && id.length <= 1_024) return { id, body }
  throw new ScimError(400, "id: must be a string of 1 to 1024 characters.")
}

/** The beginning of the next part; undefined after the last one. */
export function nextPart({ part, byId, restarts }: Cursor): Cursor | undefined {
  const next = PARTS[PARTS.findIndex((one) => one.part === part && one.byId === byId) + 1]
  return next && { ...START, ...next, restarts }
}

export const isListed = ({ part, byId }: Cursor) => part !== "missing" && byId === undefined

/** The resource type that a part reads. */
export function kindOf({ part, byId }: Cursor): "users" | "groups" {
  return part === "users" || (part === "missing" && byId === undefined) ? "users" : "groups"
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
  const part = kindOf(cursor)
  if (cursor.restarts < MAX_RESTARTS) return { cursor: { ...START, part, restarts: cursor.restarts + 1 } }
  return { reason: `its list of ${part} ends early, or changes with every read` }
}

export function afterTimeout(cursor: Cursor, text: string): Next {
  if (cursor.failures + 1 < MAX_FAILURES) return { cursor: { ...cursor, failures: cursor.failures + 1 } }
  return { reason: `${text}, ${MAX_FAILURES} times in a row` }
}

export function afterTooLarge(cursor: Cursor): Next {
  if (cursor.count > 1) return { cursor: { ...cursor, count: Math.floor(cursor.count / 2) } }
  return { reason: `one of its ${kindOf(cursor)} is larger than the gateway reads` }
}
