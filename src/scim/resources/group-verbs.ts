import type { AuditEntry } from "../../audit/entry.ts"
import { newId } from "../../support/ids.ts"
import { invalid, ScimError } from "../protocol/errors.ts"
import { GROUP_FIELDS } from "../protocol/filter.ts"
import { type GroupChange, type GroupRow, planGroup, readGroup, toGroup } from "./group.ts"
import {
  deleteGroup,
  findGroup,
  findMembersOf,
  findUnknownUsers,
  insertGroup,
  listGroups,
  updateGroup,
} from "./group-store.ts"
import { readProjection } from "../protocol/projection.ts"
import { directoryOf, entryOf, pageOf, type ScimRequest, notModified, type Verbs } from "../protocol/request.ts"
import { versionTag } from "./user.ts"
import { hasMatch, listResponse, outdatedError, requireMatch, scimJson } from "../protocol/protocol.ts"

/** Ten thousand members with their names. */
const MAX_BODY_BYTES = 2_097_152
/** Members of all groups of a page: a page ends before the group that would exceed it, which RFC 7644 allows. */
const MAX_LISTED_MEMBERS = 20_000

export const groups: Verbs = {
  maxBodyBytes: MAX_BODY_BYTES,
  async list(request) {
    const { page, startIndex } = pageOf(request, GROUP_FIELDS)
    const { rows, total } = await listGroups(request.db, directoryOf(request), page)
    const withMembers = readProjection(request.query).includes("members")
    const resources = await emit(request, withMembers ? withinBound(rows) : rows)
    return scimJson(listResponse(resources, total, startIndex))
  },
  async create(request) {
    const group = readGroup(await request.body(MAX_BODY_BYTES))
    const directory = directoryOf(request)
    await requireUsers(request, group.members.added)
    const now = Date.now()
    const row: GroupRow = {
      id: newId(),
      organization_id: directory.organizationId,
      directory_id: directory.id,
      display_name: group.displayName,
      external_id: group.externalId,
      version: 1,
      stamp: newId(),
      created_at: now,
      updated_at: now,
    }
    await insertGroup(request.db, row, group.members, groupEntry(request, "create", row.id, group))
    return groupResponse(request, row, 201)
  },
  async read(request) {
    const row = await requireGroup(request)
    return notModified(request, row.version) ?? groupResponse(request, row)
  },
  async replace(request) {
    return groupResponse(request, await change(request, readGroup(await request.body(MAX_BODY_BYTES))))
  },
  async patch(request, operations) {
    const row = await change(request, planGroup(operations))
    // A complete group may be large: it is returned only on request.
    if (request.query.has("attributes")) return groupResponse(request, row)
    return new Response(null, { status: 204, headers: { etag: versionTag(row.version) } })
  },
  async remove(request) {
    const { id, ...write } = await begin(request)
    const isDeleted = await deleteGroup(request.db, {
      directory: directoryOf(request),
      id,
      write,
      entry: groupEntry(request, "delete", id),
    })
    if (!isDeleted) throw outdatedError()
    return new Response(null, { status: 204 })
  },
}

/** Finds the group of a write and checks the version that the client requires. */
async function begin(request: ScimRequest) {
  const { headers } = request
  const { id, version } = await requireGroup(request)
  requireMatch(headers, version)
  return { id, version: hasMatch(headers) ? version : undefined, stamp: newId(), now: Date.now() }
}

async function change(request: ScimRequest, group: GroupChange): Promise<GroupRow> {
  const { id, ...write } = await begin(request)
  await requireUsers(request, group.members.added)
  const row = await updateGroup(request.db, {
    directory: directoryOf(request),
    id,
    change: group,
    write,
    entry: groupEntry(request, "update", id, group),
  })
  if (!row) throw outdatedError()
  return row
}

async function requireGroup(request: ScimRequest): Promise<GroupRow> {
  const row = await findGroup(request.db, directoryOf(request), request.id)
  if (!row) throw new ScimError(404, "There is no group with this id.")
  return row
}

async function requireUsers(request: ScimRequest, ids: ReadonlySet<string>): Promise<void> {
  if (ids.size === 0) return
  const unknown = await findUnknownUsers(request.db, directoryOf(request), [...ids])
  if (unknown.length > 0) {
    const unknownIds = unknown.map((id) => id.slice(0, 100)).join(", ")
    throw invalid(
      "invalidValue",
      `members: no users of this directory: ${unknownIds}. Members are users, pushed before the group; groups within groups are not supported.`,
    )
  }
}

/** At least one group, so that paging advances. */
function withinBound<T extends { size: number }>(rows: readonly T[]): T[] {
  let members = 0
  return rows.filter(({ size }, index) => (members += size) <= MAX_LISTED_MEMBERS || index === 0)
}

async function emit(request: ScimRequest, rows: readonly GroupRow[]): Promise<object[]> {
  const projection = readProjection(request.query)
  const ids = rows.map(({ id }) => id)
  const members = projection.includes("members")
    ? await findMembersOf(request.db, request.directory.organization_id, ids)
    : undefined
  return rows.map((row) => projection.project(toGroup(row, members && (members.get(row.id) ?? []), request.base)))
}

async function groupResponse(request: ScimRequest, row: GroupRow, status = 200): Promise<Response> {
  const [resource] = await emit(request, [row])
  return scimJson(resource, status, { etag: versionTag(row.version), location: `${request.base}/Groups/${row.id}` })
}

/** Records the number of added and removed members, not their ids. */
function groupEntry(
  request: ScimRequest,
  verb: "create" | "update" | "delete",
  id: string,
  change?: GroupChange,
): AuditEntry {
  const { displayName, externalId, members } = change ?? {}
  const isOfMembers = members !== undefined && (members.replacesAll || members.added.size + members.removed.size > 0)
  const fields = [
    ...(displayName === undefined ? [] : ["display_name"]),
    ...(externalId === undefined ? [] : ["external_id"]),
    ...(isOfMembers ? ["members"] : []),
  ]
  const values = {
    ...(displayName !== undefined && { display_name: displayName }),
    ...(isOfMembers && { added: members.added.size, removed: members.removed.size, replaced: members.replacesAll }),
  }
  return entryOf(request, `scim_group.${verb}`, id, { fields, values })
}
