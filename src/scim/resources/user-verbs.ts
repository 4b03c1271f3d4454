import { invalidateKey } from "../../access/key-cache.ts"
import type { AuditEntry } from "../../audit/entry.ts"
import { newId } from "../../support/ids.ts"
import type { Document } from "../protocol/attributes.ts"
import { invalid, ScimError } from "../protocol/errors.ts"
import { USER_FIELDS } from "../protocol/filter.ts"
import { readProjection } from "../protocol/projection.ts"
import { spellingsOf } from "../protocol/spellings.ts"
import { directoryOf, entryOf, pageOf, type ScimRequest, notModified, type Verbs } from "../protocol/request.ts"
import { readUser, toUser, type UserFields, type UserRow, versionTag } from "./user.ts"
import { patchUser } from "./user-patch.ts"
import {
  deleteUser,
  findGroupsOf,
  findMemberId,
  findUser,
  insertUser,
  isNameTaken,
  listUsers,
  updateUser,
} from "./user-store.ts"
import { hasMatch, listResponse, outdatedError, requireMatch, scimJson } from "../protocol/protocol.ts"
import { isUniqueViolation } from "../../support/rows.ts"

const MAX_BODY_BYTES = 131_072
/** Attempts of a change under contention: of 25 concurrent changes, the last succeeds at its 25th attempt. */
const MAX_TRIES = 25

export const users: Verbs = {
  maxBodyBytes: MAX_BODY_BYTES,
  async list(request) {
    const { page, startIndex } = pageOf(request, USER_FIELDS)
    const { rows, total } = await listUsers(request.db, directoryOf(request), page)
    return scimJson(listResponse(await emit(request, rows), total, startIndex))
  },
  async create(request) {
    const fields = readUser(await request.body(MAX_BODY_BYTES))
    const directory = directoryOf(request)
    const { email } = fields
    const existingId = email === null ? undefined : await findMemberId(request.db, directory.organizationId, email)
    const now = Date.now()
    const row: UserRow = {
      organization_id: directory.organizationId,
      id: existingId ?? newId(),
      directory_id: directory.id,
      ...fields,
      version: 1,
      created_at: now,
      updated_at: now,
    }
    await requireName(request, row)
    forget(
      await insertUser(request.db, row, userEntry(request, { verb: "create", id: row.id, after: fields })).catch(
        rejectDuplicate,
      ),
    )
    return userResponse(request, row, 201)
  },
  async read(request) {
    const row = await requireUser(request)
    return notModified(request, row.version) ?? userResponse(request, row)
  },
  async replace(request) {
    const body = await request.body(MAX_BODY_BYTES)
    return change(request, (row) => readUser(body, { wasActive: row.active === 1, isSet: true }))
  },
  async patch(request, operations) {
    return change(request, (row) => {
      const patched = patchUser(JSON.parse(row.attributes) as Document, operations)
      return readUser(patched, { wasActive: row.active === 1, isSet: "active" in patched })
    })
  },
  async remove(request) {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const row = await requireUser(request)
      requireMatch(request.headers, row.version)
      const disabled = await deleteUser(request.db, row, Date.now(), userEntry(request, { verb: "delete", id: row.id }))
      if (!disabled) continue
      forget(disabled)
      return new Response(null, { status: 204 })
    }
    throw outdatedError()
  },
}

/** Changes the current user. Retries after a concurrent change, unless the client requires a version. */
async function change(request: ScimRequest, next: (row: UserRow) => UserFields): Promise<Response> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const before = await requireUser(request)
    requireMatch(request.headers, before.version)
    const fields = next(before)
    if (fields.attributes.length > MAX_BODY_BYTES) throw invalid("tooMany", "The user would be larger than 128 KiB.")
    if (fields.user_name !== before.user_name) await requireName(request, { ...fields, id: before.id })
    const entry = userEntry(request, { verb: "update", id: before.id, after: fields, before })
    const { row, disabled } = await updateUser(request.db, { before, fields, now: Date.now(), entry }).catch(
      rejectDuplicate,
    )
    forget(disabled)
    if (row) return userResponse(request, row)
    if (hasMatch(request.headers)) break
  }
  throw outdatedError()
}

async function requireUser(request: ScimRequest): Promise<UserRow> {
  const row = await findUser(request.db, directoryOf(request), request.id)
  if (!row) throw new ScimError(404, "There is no user with this id.")
  return row
}

async function emit(request: ScimRequest, rows: readonly UserRow[]): Promise<object[]> {
  const projection = readProjection(request.query)
  const ids = rows.map(({ id }) => id)
  const groups = projection.includes("groups")
    ? await findGroupsOf(request.db, request.directory.organization_id, ids)
    : undefined
  return rows.map((row) => projection.project(toUser(row, groups?.get(row.id) ?? [], request.base)))
}

async function userResponse(request: ScimRequest, row: UserRow, status = 200): Promise<Response> {
  const [resource] = await emit(request, [row])
  const location = `${request.base}/Users/${encodeURIComponent(row.id)}`
  return scimJson(resource, status, { etag: versionTag(row.version), location })
}

function forget(hashes: readonly string[]): void {
  for (const hash of hashes) invalidateKey(hash)
}

/** Records only `active`, since all other values are personal data. */
function userEntry(
  request: ScimRequest,
  {
    verb,
    id,
    after,
    before,
  }: {
    verb: "create" | "update" | "delete"
    id: string
    after?: UserFields | undefined
    before?: UserFields | undefined
  },
): AuditEntry {
  const names = ["user_name", "external_id", "active", "email", "first_name", "last_name", "attributes"] as const
  const fields = names.filter((field) => after && after[field] !== before?.[field])
  const values = fields.includes("active") ? { active: after?.active === 1 } : {}
  return entryOf(request, `scim_user.${verb}`, id, { fields, values })
}

/** The database compares names without the case of ASCII letters; others are compared here. */
async function requireName(request: ScimRequest, { user_name: name, id }: Pick<UserRow, "user_name" | "id">) {
  const spellings = spellingsOf(name)
  if (spellings && (await isNameTaken(request.db, directoryOf(request), { spellings, userId: id }))) {
    throw new ScimError(409, NAME_TAKEN, "uniqueness")
  }
}

const NAME_TAKEN = "userName: another user of the directory has this name."

function rejectDuplicate(cause: unknown): never {
  if (!isUniqueViolation(cause)) throw cause
  const text = cause.message.includes("members.email")
    ? "emails: another member of the organization has this address."
    : cause.message.includes("scim_users_name")
      ? NAME_TAKEN
      : "emails: a directory of the organization has a user with this address."
  throw new ScimError(409, text, "uniqueness")
}
