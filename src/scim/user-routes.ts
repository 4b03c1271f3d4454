import { type Context, Hono } from "hono"
import { originOf } from "../access/actor.ts"
import { forgetKey } from "../access/authenticate.ts"
import { type AuditEntry, newEntry } from "../audit/entry.ts"
import { newId } from "../support/ids.ts"
import type { Document } from "./attributes.ts"
import type { DirectoryId } from "./directory.ts"
import { invalid, ScimError } from "./errors.ts"
import { toCondition, toOrder, USER_FIELDS } from "./filter.ts"
import { readOperations } from "./patch.ts"
import type { ScimApp } from "./schemas.ts"
import { readUser, toUser, type UserFields, type UserRow, versionTag } from "./user.ts"
import { patchUser } from "./user-patch.ts"
import { deleteUser, findGroupsOf, findMemberId, findUser, insertUser, listUsers, updateUser } from "./user-store.ts"
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

const MAX_BODY_BYTES = 131_072
/** How often a change is tried that meets another one. */
const MAX_TRIES = 5

export const userResources = new Hono<ScimApp>()
  .get("/Users", async (c) => {
    const { searchParams } = new URL(c.req.url)
    const query = readListQuery(searchParams)
    const { rows, total } = await listUsers(c.env.DB, directoryOf(c), {
      condition: toCondition(query.filter, USER_FIELDS),
      order: toOrder(query.sortBy, query.descending, USER_FIELDS),
      limit: query.count,
      offset: query.startIndex - 1,
    })
    const resources = await tell(c, rows)
    return scimJson(listResponse(resources, total, query.startIndex))
  })
  .post("/Users", async (c) => {
    const fields = readUser(await readBody(c.req.raw, MAX_BODY_BYTES))
    const directory = directoryOf(c)
    const { email } = fields
    const known = email === null ? undefined : await findMemberId(c.env.DB, directory.organizationId, email)
    const now = Date.now()
    const row: UserRow = {
      organization_id: directory.organizationId,
      id: known ?? newId(),
      directory_id: directory.id,
      ...fields,
      version: 1,
      created_at: now,
      updated_at: now,
    }
    forget(await insertUser(c.env.DB, row, entryOf(c, "create", row.id, fields)).catch(refuseTaken))
    return answer(c, row, 201)
  })
  .get("/Users/:id", async (c) => {
    const row = await wanted(c)
    if (isUnchanged(c.req.raw.headers, row.version)) return unchanged(row)
    return answer(c, row)
  })
  .put("/Users/:id", async (c) => {
    const body = await readBody(c.req.raw, MAX_BODY_BYTES)
    return change(c, (row) => readUser({ active: row.active === 1, ...body }))
  })
  .patch("/Users/:id", async (c) => {
    const operations = readOperations(await readBody(c.req.raw, MAX_BODY_BYTES))
    return change(c, (row) => readUser(patchUser(JSON.parse(row.attributes) as Document, operations)))
  })
  .delete("/Users/:id", async (c) => {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const row = await wanted(c)
      requireMatch(c.req.raw.headers, row.version)
      const disabled = await deleteUser(c.env.DB, row, Date.now(), entryOf(c, "delete", row.id))
      if (!disabled) continue
      forget(disabled)
      return new Response(null, { status: 204 })
    }
    throw outdated()
  })

/** Changes the user as it is now; once more where another change came between, unless the client named a version. */
async function change(c: Context<ScimApp>, next: (row: UserRow) => UserFields): Promise<Response> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const before = await wanted(c)
    requireMatch(c.req.raw.headers, before.version)
    const fields = next(before)
    if (fields.attributes.length > MAX_BODY_BYTES) throw invalid("tooMany", "The user would be larger than 128 KiB.")
    const entry = entryOf(c, "update", before.id, fields, before)
    const { row, disabled } = await updateUser(c.env.DB, before, fields, Date.now(), entry).catch(refuseTaken)
    forget(disabled)
    if (row) return answer(c, row)
    if (hasMatch(c.req.raw.headers)) break
  }
  throw outdated()
}

function directoryOf(c: Context<ScimApp>): DirectoryId {
  const { id, organization_id: organizationId } = c.var.directory
  return { id, organizationId }
}

async function wanted(c: Context<ScimApp>): Promise<UserRow> {
  const row = await findUser(c.env.DB, directoryOf(c), c.req.param("id") ?? "")
  if (!row) throw new ScimError(404, "There is no user with this id.")
  return row
}

async function tell(c: Context<ScimApp>, rows: readonly UserRow[]): Promise<object[]> {
  const isTold = readProjection(new URL(c.req.url).searchParams)
  const ids = rows.map(({ id }) => id)
  const groups = isTold("groups") ? await findGroupsOf(c.env.DB, c.var.directory.organization_id, ids) : undefined
  return rows.map((row) => project(toUser(row, groups?.get(row.id) ?? [], c.var.base), isTold))
}

async function answer(c: Context<ScimApp>, row: UserRow, status = 200): Promise<Response> {
  const [resource] = await tell(c, [row])
  const location = `${c.var.base}/Users/${encodeURIComponent(row.id)}`
  return scimJson(resource, status, { etag: versionTag(row.version), location })
}

function unchanged(row: UserRow): Response {
  return new Response(null, { status: 304, headers: { etag: versionTag(row.version) } })
}

function forget(hashes: readonly string[]): void {
  for (const hash of hashes) forgetKey(hash)
}

/** Who did it is the directory. Of people only whether they are active is told. */
function entryOf(
  c: Context<ScimApp>,
  verb: "create" | "update" | "delete",
  id: string,
  after?: UserFields,
  before?: UserFields,
): AuditEntry {
  const { organization_id: organizationId, token_hash: keyHash, name } = c.var.directory
  const actor = { organizationId, keyHash, label: `scim: ${name}`, creatorUserId: null }
  const names = ["user_name", "external_id", "active", "email", "first_name", "last_name", "attributes"] as const
  const fields = names.filter((field) => after && after[field] !== before?.[field])
  const values = fields.includes("active") ? { active: after?.active === 1 } : {}
  const deed = { action: `scim_user.${verb}`, resourceId: id, workspaceId: null, changed: { fields, values } } as const
  return newEntry({ ...actor, ...originOf(c.req.raw, c.var.requestId) }, deed)
}

/** D1 tells what is taken only by its message. */
function refuseTaken(cause: unknown): never {
  if (!(cause instanceof Error) || !cause.message.includes("UNIQUE constraint failed")) throw cause
  const words = cause.message.includes("members.email")
    ? "emails: another member of the organization has this address."
    : cause.message.includes("scim_users_name")
      ? "userName: another user of the directory has this name."
      : "emails: a directory of the organization has a user with this address."
  throw new ScimError(409, words, "uniqueness")
}
