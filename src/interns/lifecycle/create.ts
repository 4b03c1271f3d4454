import type { Context } from "hono"
import { invalidateKey } from "../../access/key-cache.ts"
import { isConfined, type Principal } from "../../access/principal.ts"
import { newKey } from "../../access/key.ts"
import { entryOf } from "../../audit/actor.ts"
import { changesOf } from "../../audit/entry.ts"
import { GatewayError } from "../../errors/errors.ts"
import type { App } from "../../access/app.ts"
import { mayEnable } from "../../keys/key.ts"
import { parentOf } from "../../keys/lineage.ts"
import { inheritedTerms } from "../../keys/replacement.ts"
import { isDeprovisioned } from "../../keys/store.ts"
import type { NewKeyRow } from "../../keys/table.ts"
import { sha256Hex } from "../../support/text/encoding.ts"
import { newId } from "../../support/ids.ts"
import { mayControl, maySee, noControlError } from "../access/authority.ts"
import { withClonedFiles } from "../initial-content.ts"
import { defaultHost } from "../intern.ts"
import { type InternStatus } from "../kinds.ts"
import { sealInternKey } from "../access/intern-key.ts"
import { findReplacedKey } from "../access/key-store.ts"
import { requireToolsRight, TERM_FIELDS, toTerms } from "../access/key-terms.ts"
import { internError } from "./reasons.ts"
import type { NewIntern } from "../schemas.ts"
import { openIntern, identityOf } from "./open-intern.ts"
import { findInternByIdempotencyKey, findVaultOwner, insertIntern, replaceInternKey } from "../store.ts"
import type { InternRow, NewInternRow } from "../table.ts"
import { isUniqueViolation } from "../../support/rows.ts"

const MAX_IDEMPOTENCY_KEY = 255
const AUDITED_FIELDS = ["name", "description", "model", "provision", "vault_id", "host", "clone_of", ...TERM_FIELDS]

/**
 * Creates an intern with its key and vault. With an idempotency key that was used before, returns that intern and
 * `isNew` false.
 */
export async function createIntern(c: Context<App>, input: NewIntern): Promise<{ row: InternRow; isNew: boolean }> {
  const { principal } = c.var
  if (input.workspace_id !== undefined && input.workspace_id !== principal.workspaceId) {
    throw internError("not_found", "workspace_id: must be the workspace of this key.")
  }
  const { workspace_id: _, ...fields } = input
  const bodyHash = sha256Hex(JSON.stringify(fields))
  const requested = readIdempotencyKey(c.req.header("idempotency-key")) ?? `body-${bodyHash}`
  // A key that sees only what it created must not receive an equal intern of another key.
  const idempotencyKey = isConfined(principal) ? `${principal.keyHash} ${requested}` : requested
  const existing = await findInternByIdempotencyKey(c.env.DB, principal, idempotencyKey)
  if (existing) return { row: orConflict(existing, bodyHash), isNew: false }
  if (input.vault_id !== undefined) {
    const owner = await findVaultOwner(c.env.DB, principal, input.vault_id)
    if (!owner || !maySee(principal, owner))
      throw internError("not_found", "vault_id: no intern of this workspace has this vault.")
    if (!mayControl(principal, owner)) throw noControlError("created the intern of this vault")
  }
  const complete = await withClonedFiles({ env: c.env, principal }, input)
  requireToolsRight(principal, undefined, complete.mcp_tools)
  const inserted = await insert(c, complete, idempotencyKey, bodyHash)
  if (inserted) return { row: inserted, isNew: true }
  const raced = await findInternByIdempotencyKey(c.env.DB, principal, idempotencyKey)
  if (raced) return { row: orConflict(raced, bodyHash), isNew: false }
  throw nameConflict(input.name)
}

export function nameConflict(name: string): GatewayError {
  return internError(
    "name_taken",
    `An intern of yours in this workspace is called ${name} already. Choose another name.`,
  )
}

const BEING_DELETED: readonly InternStatus[] = ["destroying", "destroy_failed"]

function orConflict(row: InternRow, bodyHash: string): InternRow {
  if (BEING_DELETED.includes(row.status)) {
    throw internError(
      "name_taken",
      `The intern ${row.name} of this Idempotency-Key is being deleted. Retry after its deletion.`,
    )
  }
  if (row.bodyHash === bodyHash) return row
  throw internError("idempotency_conflict", "This Idempotency-Key was used with another body. Send a new one.")
}

function readIdempotencyKey(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  if (header.length >= 1 && header.length <= MAX_IDEMPOTENCY_KEY) return `key-${header}`
  throw internError("invalid_body", "Idempotency-Key: must be 1 to 255 characters.")
}

/** Undefined if a concurrent request took the name or the idempotency key. */
async function insert(
  c: Context<App>,
  input: NewIntern,
  idempotencyKey: string,
  bodyHash: string,
): Promise<InternRow | undefined> {
  const { principal, env } = { principal: c.var.principal, env: c.env }
  const [id, now] = [newId(), Date.now()]
  const { workspaceId, organizationId, creatorUserId } = principal
  const changed = changesOf(input, AUDITED_FIELDS)
  const entry = entryOf(c, { action: "intern.create", resourceId: id, workspaceId, changed })
  const newApiKey = newKey()
  const sealed = await sealInternKey(env, {
    scope: principal,
    internId: id,
    key: newApiKey.secret,
    entry: {
      ...entry,
      id: newId(),
      action: "data_key.create",
    },
  })
  if (sealed === undefined) throw internError("not_found", "The workspace of this key was deleted.")
  const row: NewInternRow = {
    id,
    organizationId,
    workspaceId,
    creatorUserId,
    createdByKey: principal.keyHash,
    name: input.name,
    description: input.description ?? null,
    instructions: input.instructions ?? null,
    model: input.model ?? null,
    host: input.host ?? defaultHost(env),
    status: "queued",
    vaultId: newId(),
    attachedVaultId: input.vault_id ?? null,
    keyHash: newApiKey.hash,
    sealedKey: sealed,
    idempotencyKey,
    bodyHash,
    createdAt: now,
    updatedAt: now,
  }
  try {
    const key = { ...internKeyRow(row, newApiKey.label, principal), ...toTerms(input) }
    const inserted = await insertIntern(env.DB, row, key, entry)
    if (inserted) return inserted
  } catch (cause) {
    if (isUniqueViolation(cause)) return undefined
    throw cause
  }
  if (creatorUserId !== null && (await isDeprovisioned(env.DB, organizationId, creatorUserId))) {
    throw new GatewayError("forbidden", "The creator of this key is no longer a member of the organization.")
  }
  throw internError("not_found", "The workspace of this key was deleted.")
}

/**
 * Creates a new key for an intern whose key was revoked, as a child of the principal's key, with the limits and
 * guardrail of the old one. The principal becomes the creator, and the old join token is revoked, because the former
 * creator has it. Rejects a principal that may not enable a disabled key.
 */
export async function renewInternKey(c: Context<App>, row: InternRow): Promise<InternRow> {
  const { principal } = c.var
  if (!mayControl(principal, row)) throw noControlError("created this intern")
  const old = await findReplacedKey(c.env.DB, row.organizationId, row.keyHash)
  if (old?.disabled === true && !mayEnable(principal.kind, old)) {
    throw internError("forbidden", "The key of this intern was disabled. Only a management key can provision it again.")
  }
  const { workspaceId } = row
  const entry = entryOf(c, { action: "intern.renew_key", resourceId: row.id, workspaceId })
  const newApiKey = newKey()
  const dataKeyEntry = { ...entry, id: newId(), action: "data_key.create" }
  const sealed = await sealInternKey(c.env, {
    scope: principal,
    internId: row.id,
    key: newApiKey.secret,
    entry: dataKeyEntry,
  })
  if (sealed === undefined) throw internError("not_found", "The workspace of this key was deleted.")
  const renewed = { ...row, keyHash: newApiKey.hash, sealedKey: sealed, createdByKey: principal.keyHash }
  const key = {
    ...internKeyRow(renewed, newApiKey.label, principal),
    ...(old && inheritedTerms(old)),
    createdAt: Date.now(),
  }
  if (await replaceInternKey(c.env.DB, { old: row, renewed, key, entry })) {
    invalidateKey(row.keyHash)
    await openIntern(c.env, row.id).revoke(identityOf(c, row))
    return { ...renewed, joinTokenHash: null }
  }
  if (row.creatorUserId !== null && (await isDeprovisioned(c.env.DB, row.organizationId, row.creatorUserId))) {
    const rule = "The user who created this intern was deactivated by the organization's directory. Clone the intern."
    throw internError("forbidden", rule)
  }
  throw internError("intern_not_ready", "Another key was created for this intern at the same time. Try again.")
}

/** The intern's own key: a child of the key that created the intern, so that its limit and guardrails apply. */
function internKeyRow(intern: NewInternRow, label: string, creator: Principal): NewKeyRow {
  return {
    hash: intern.keyHash,
    organizationId: intern.organizationId,
    workspaceId: intern.workspaceId,
    kind: creator.kind === "free_tier" ? "free_tier" : "normal",
    name: `Intern ${intern.name}`,
    label,
    creatorUserId: intern.creatorUserId ?? null,
    expiresAt: creator.expiresAt,
    createdAt: intern.createdAt,
    parentHash: parentOf(creator),
    source: "intern",
  }
}
