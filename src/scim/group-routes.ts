import { type Context, Hono } from "hono"
import { originOf } from "../access/actor.ts"
import { type AuditEntry, newEntry } from "../audit/entry.ts"
import { newId } from "../support/ids.ts"
import type { DirectoryId } from "./directory.ts"
import { invalid, ScimError } from "./errors.ts"
import { GROUP_FIELDS, toCondition, toOrder } from "./filter.ts"
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
import { readOperations } from "./patch.ts"
import type { ScimApp } from "./schemas.ts"
import { versionTag } from "./user.ts"
import {
  hasMatch,
  isUnchanged,
  listResponse,
  outdated,
  project,
  readBody,
  readListQuery,
  readProjection,
  requireMatch,
  scimJson,
} from "./wire.ts"

/** Ten thousand members and their names. */
const MAX_BODY_BYTES = 2_097_152
/** Of all groups of a page: a page ends before the group that would pass it, as RFC 7644 lets it. */
const MAX_LISTED_MEMBERS = 20_000

export const groupResources = new Hono<ScimApp>()
  .get("/Groups", async (c) => {
    const { searchParams } = new URL(c.req.url)
    const query = readListQuery(searchParams)
    const { rows, total } = await listGroups(c.env.DB, directoryOf(c), {
      condition: toCondition(query.filter, GROUP_FIELDS),
      order: toOrder(query.sortBy, query.descending, GROUP_FIELDS),
      limit: query.count,
      offset: query.startIndex - 1,
    })
    const withMembers = readProjection(searchParams)("members")
    const resources = await tell(c, withMembers ? withinBound(rows) : rows)
    return scimJson(listResponse(resources, total, query.startIndex))
  })
  .post("/Groups", async (c) => {
    const group = readGroup(await readBody(c.req.raw, MAX_BODY_BYTES))
    const directory = directoryOf(c)
    await requireUsers(c, group.members.added)
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
    await insertGroup(c.env.DB, row, group.members, entryOf(c, "create", row.id, group))
    return answer(c, row, 201)
  })
  .get("/Groups/:id", async (c) => {
    const row = await wanted(c)
    const { version } = row
    if (!isUnchanged(c.req.raw.headers, version)) return answer(c, row)
    return new Response(null, { status: 304, headers: { etag: versionTag(version) } })
  })
  .put("/Groups/:id", async (c) => {
    const row = await change(c, readGroup(await readBody(c.req.raw, MAX_BODY_BYTES)))
    return answer(c, row)
  })
  .patch("/Groups/:id", async (c) => {
    const operations = readOperations(await readBody(c.req.raw, MAX_BODY_BYTES))
    const row = await change(c, planGroup(operations))
    // The whole group, which may be large, is for those who ask for it.
    if (new URL(c.req.url).searchParams.has("attributes")) return answer(c, row)
    return new Response(null, { status: 204, headers: { etag: versionTag(row.version) } })
  })
  .delete("/Groups/:id", async (c) => {
    const { id, ...write } = await begin(c)
    const isDeleted = await deleteGroup(c.env.DB, directoryOf(c), id, write, entryOf(c, "delete", id))
    if (!isDeleted) throw outdated()
    return new Response(null, { status: 204 })
  })

/** The group that a write is for, as the client may have named its version. */
async function begin(c: Context<ScimApp>) {
  const { headers } = c.req.raw
  const { id, version } = await wanted(c)
  requireMatch(headers, version)
  return { id, version: hasMatch(headers) ? version : undefined, stamp: newId(), now: Date.now() }
}

async function change(c: Context<ScimApp>, group: GroupChange): Promise<GroupRow> {
  const { id, ...write } = await begin(c)
  await requireUsers(c, group.members.added)
  const row = await updateGroup(c.env.DB, directoryOf(c), id, group, write, entryOf(c, "update", id, group))
  if (!row) throw outdated()
  return row
}

function directoryOf(c: Context<ScimApp>): DirectoryId {
  const { id, organization_id: organizationId } = c.var.directory
  return { id, organizationId }
}

async function wanted(c: Context<ScimApp>): Promise<GroupRow> {
  const row = await findGroup(c.env.DB, directoryOf(c), c.req.param("id") ?? "")
  if (!row) throw new ScimError(404, "There is no group with this id.")
  return row
}

async function requireUsers(c: Context<ScimApp>, ids: ReadonlySet<string>): Promise<void> {
  if (ids.size === 0) return
  const unknown = await findUnknownUsers(c.env.DB, directoryOf(c), [...ids])
  if (unknown.length > 0) {
    const named = unknown.map((id) => id.slice(0, 100)).join(", ")
    throw invalid("invalidValue", `members: no users of this directory: ${named}. Push the users first.`)
  }
}

/** At least one group, so that a client gets on. */
function withinBound<T extends { size: number }>(rows: readonly T[]): T[] {
  let members = 0
  return rows.filter(({ size }, index) => (members += size) <= MAX_LISTED_MEMBERS || index === 0)
}

async function tell(c: Context<ScimApp>, rows: readonly GroupRow[]): Promise<object[]> {
  const isTold = readProjection(new URL(c.req.url).searchParams)
  const ids = rows.map(({ id }) => id)
  const members = isTold("members") ? await findMembersOf(c.env.DB, c.var.directory.organization_id, ids) : undefined
  return rows.map((row) => project(toGroup(row, members && (members.get(row.id) ?? []), c.var.base), isTold))
}

async function answer(c: Context<ScimApp>, row: GroupRow, status = 200): Promise<Response> {
  const [resource] = await tell(c, [row])
  return scimJson(resource, status, { etag: versionTag(row.version), location: `${c.var.base}/Groups/${row.id}` })
}

/** Who did it is the directory. How many came and went is told, not who. */
function entryOf(
  c: Context<ScimApp>,
  verb: "create" | "update" | "delete",
  id: string,
  change?: GroupChange,
): AuditEntry {
  const { organization_id: organizationId, token_hash: keyHash, name } = c.var.directory
  const actor = { organizationId, keyHash, label: `scim: ${name}`, creatorUserId: null }
  const { displayName, externalId, members } = change ?? {}
  const isOfMembers = members !== undefined && (members.fromNobody || members.added.size + members.removed.size > 0)
  const fields = [
    ...(displayName === undefined ? [] : ["display_name"]),
    ...(externalId === undefined ? [] : ["external_id"]),
    ...(isOfMembers ? ["members"] : []),
  ]
  const values = {
    ...(displayName !== undefined && { display_name: displayName }),
    ...(isOfMembers && { added: members.added.size, removed: members.removed.size, replaced: members.fromNobody }),
  }
  const deed = { action: `scim_group.${verb}`, resourceId: id, workspaceId: null, changed: { fields, values } } as const
  return newEntry({ ...actor, ...originOf(c.req.raw, c.var.requestId) }, deed)
}
