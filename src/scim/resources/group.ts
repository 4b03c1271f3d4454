import type { Filter } from "scim2-parse-filter"
import type { StoredOf } from "../../support/db.ts"
import { toTimestamp } from "../../support/time/time.ts"
import { isObject } from "../../support/text/json.ts"
import { isPrintableLine } from "../../support/text/printable.ts"
import { GROUP_SCHEMA, ONE_LINE, unwrap } from "../protocol/attributes.ts"
import { invalid } from "../protocol/errors.ts"
import { isUrn, type Operation, readPath } from "../protocol/patch.ts"
import type { scimGroups } from "../table.ts"
import { type Reference, versionTag } from "./user.ts"

export type GroupRow = Omit<StoredOf<typeof scimGroups>, "deleted_at" | "remote_id">

/** A change of a group. `replacesAll`: the added members replace all others. */
export type GroupChange = {
  displayName?: string
  externalId?: string | null
  members: { replacesAll: boolean; added: ReadonlySet<string>; removed: ReadonlySet<string> }
}
type Members = { replacesAll: boolean; added: Set<string>; removed: Set<string> }

const MAX_NAME_LENGTH = 1_024
/** Per request; a larger group is pushed in several. */
const MAX_MEMBERS = 10_000

/** Reads a complete group from a body. */
export function readGroup(body: Record<string, unknown>): Required<GroupChange> {
  const fields = new Map(Object.entries(body).map(([name, value]) => [name.toLowerCase(), value]))
  const externalId = fields.get("externalid") ?? null
  const ids = idsOf(fields.get("members") ?? [])
  return {
    displayName: readName(fields.get("displayname")),
    externalId: externalId === null ? null : readText(externalId, "externalId"),
    members: { replacesAll: true, added: new Set(ids), removed: new Set() },
  }
}

function readName(value: unknown): string {
  const name = readText(value ?? "", "displayName")
  if (name.trim() === "") throw invalid("invalidValue", "displayName: is required.")
  return name
}

function readText(input: unknown, name: string): string {
  const value = unwrap(input, false)
  if (typeof value === "string" && value.length <= MAX_NAME_LENGTH) {
    if (isPrintableLine(value)) return value
    throw invalid("invalidValue", `${name}: ${ONE_LINE}`)
  }
  throw invalid("invalidValue", `${name}: must be a string of at most ${MAX_NAME_LENGTH} characters.`)
}

/** Member ids: `[{value}]` as specified, one such object, or only an id. */
function idsOf(value: unknown): string[] {
  const members = Array.isArray(value) ? value : [value]
  if (members.length > MAX_MEMBERS) throw invalid("tooMany", `members: takes at most ${MAX_MEMBERS} in one request.`)
  return members.map((member) => {
    const id = isObject(member) ? member["value"] : member
    if (typeof id !== "string" || id === "" || id.length > MAX_NAME_LENGTH) {
      throw invalid("invalidValue", "members: each must have the id of a user as its value.")
    }
    return id
  })
}

/** The combined change of these operations, in order. */
export function planGroup(operations: readonly Operation[]): GroupChange {
  const change: Planned = { members: { replacesAll: false, added: new Set(), removed: new Set() } }
  for (const { op, path, value } of operations) {
    // The URI of the core schema means the complete group.
    if (path !== undefined && (bare(path) !== "" || op === "remove")) {
      planAt(change, path, op, value)
      continue
    }
    if (!isObject(value)) throw invalid("invalidValue", "value: must be an object where there is no path.")
    // Okta repeats the id next to the new name.
    for (const [name, inner] of Object.entries(value)) {
      if (["displayname", "externalid", "members"].includes(bare(name).toLowerCase())) planAt(change, name, op, inner)
    }
  }
  return change
}

/** A path without the schema of groups. */
function bare(path: string): string {
  return `${path}:`.toLowerCase().startsWith(`${GROUP_SCHEMA.toLowerCase()}:`)
    ? path.slice(GROUP_SCHEMA.length + 1)
    : path
}

/** Mutable during planning: copying the members for each of a thousand operations would be slow. */
type Planned = Omit<GroupChange, "members"> & { members: Members }

function planAt(change: Planned, path: string, op: Operation["op"], value: unknown): void {
  // Attributes of other schemas are ignored, as in a complete group.
  if (isUrn(bare(path))) return
  const { name, filter, part } = readPath(bare(path))
  const folded = name.toLowerCase()
  if (folded === "displayname" && !filter && !part) {
    if (op === "remove") throw invalid("mutability", "displayName: is required, and cannot be removed.")
    change.displayName = readName(value)
    return
  }
  if (folded === "externalid" && !filter && !part) {
    const isNone = op === "remove" || value === null
    change.externalId = isNone ? null : readText(value, "externalId")
    return
  }
  if (["id", "meta", "schemas"].includes(folded)) throw invalid("mutability", `${name}: is read-only.`)
  if (folded !== "members" || part) throw invalid("invalidPath", "path: accepts displayName, externalId and members.")
  if (!filter) return planMembers(change.members, op, value)
  if (op !== "remove") throw invalid("mutability", "members: can be added and removed, not changed.")
  planMembers(change.members, op, idsIn(filter))
}

/** Ids of `value eq "…"`, alone or several joined by `or`. */
function idsIn(filter: Filter): string[] {
  if (filter.op === "or") return filter.filters.flatMap(idsIn)
  if (filter.op === "eq" && filter.attrPath.toLowerCase() === "value") return [String(filter.compValue)]
  throw invalid("invalidFilter", 'members: must be selected by their value: members[value eq "<id of a user>"]')
}

function planMembers(members: Members, op: Operation["op"], value: unknown): void {
  // A removal without a value removes all members; Entra lists the members to remove in the value.
  const isAll = op === "remove" && (value === undefined || value === null)
  const ids = isAll || value === null ? [] : idsOf(value)
  if (op === "replace" || isAll) {
    members.replacesAll = true
    members.added = new Set(ids)
    members.removed.clear()
    return
  }
  const [gains, losses] = op === "add" ? [members.added, members.removed] : [members.removed, members.added]
  for (const id of ids) {
    gains.add(id)
    losses.delete(id)
  }
}

/** `members` undefined: not requested. `base`: the URL of the service. */
export function toGroup(row: GroupRow, members: readonly Reference[] | undefined, base: string) {
  return {
    schemas: [GROUP_SCHEMA],
    id: row.id,
    displayName: row.display_name,
    ...(row.external_id !== null && { externalId: row.external_id }),
    ...(members && {
      members: members.map((member) => ({
        ...member,
        type: "User",
        $ref: `${base}/Users/${encodeURIComponent(member.value)}`,
      })),
    }),
    meta: {
      resourceType: "Group",
      created: toTimestamp(row.created_at),
      lastModified: toTimestamp(row.updated_at),
      location: `${base}/Groups/${row.id}`,
      version: versionTag(row.version),
    },
  }
}
