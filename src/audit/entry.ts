import type * as z from "zod"
import type { Principal } from "../access/principal.ts"
import { newId } from "../support/ids.ts"
import { toTimestamp } from "../support/time.ts"
import type { AuditRecord } from "./schemas.ts"

/** Who does something, from where and when. */
export type Actor = Pick<Principal, "organizationId" | "keyHash" | "label" | "creatorUserId"> & {
  ip: string | null
  userAgent: string | null
  requestId: string
  /** Epoch milliseconds. */
  at: number
}

export type AuditEvent = {
  /** What was done to what kind of thing: `api_key.create`. */
  action: `${string}.${string}` | "denied"
  resourceId: string
  /** Null for what belongs to no workspace. */
  workspaceId: string | null
  changed?: Changed
}

/** The names of what was changed, and the new values of those that may be told. */
export type Changed = { fields: readonly string[]; values: Readonly<Record<string, unknown>> }

/** A row of audit_log. */
export type AuditEntry = {
  id: string
  organization_id: string
  workspace_id: string | null
  created_at: number
  action: string
  resource_type: string
  resource_id: string
  key_hash: string
  key_label: string
  creator_user_id: string | null
  ip: string | null
  user_agent: string | null
  request_id: string
  /** JSON. */
  changed_fields: string
  /** JSON. */
  changes: string
}

export const DENIED_RESOURCE = "route"

/** A deed of an actor as the audit log keeps it. */
export function newEntry(actor: Actor, { action, resourceId, workspaceId, changed }: AuditEvent): AuditEntry {
  const [resourceType = ""] = action.split(".")
  return {
    id: newId(),
    organization_id: actor.organizationId,
    workspace_id: workspaceId,
    created_at: actor.at,
    action,
    resource_type: action === "denied" ? DENIED_RESOURCE : resourceType,
    resource_id: resourceId,
    key_hash: actor.keyHash,
    key_label: actor.label,
    creator_user_id: actor.creatorUserId,
    ip: actor.ip,
    user_agent: actor.userAgent,
    request_id: actor.requestId,
    changed_fields: JSON.stringify(changed?.fields ?? []),
    changes: JSON.stringify(changed?.values ?? {}),
  }
}

const MAX_VALUE_LENGTH = 1_000

/**
 * What a body sets. Every name is told; a value only where `told` has its name, so that a field added later is kept
 * from the log until somebody decides, and only while it is small.
 */
export function changesOf(input: Readonly<Record<string, unknown>>, told: readonly string[]): Changed {
  const set = Object.entries(input).filter(([, value]) => value !== undefined)
  const values = set.filter(([name, value]) => told.includes(name) && JSON.stringify(value).length <= MAX_VALUE_LENGTH)
  return { fields: set.map(([name]) => name), values: Object.fromEntries(values) }
}

export function toAuditRecord(row: AuditEntry): z.infer<typeof AuditRecord> {
  return {
    id: row.id,
    action: row.action,
    resource_type: row.resource_type,
    resource_id: row.resource_id,
    workspace_id: row.workspace_id,
    key_hash: row.key_hash,
    key_label: row.key_label,
    creator_user_id: row.creator_user_id,
    ip_address: row.ip,
    user_agent: row.user_agent,
    request_id: row.request_id,
    changed_fields: JSON.parse(row.changed_fields) as string[],
    changes: JSON.parse(row.changes) as Record<string, unknown>,
    created_at: toTimestamp(row.created_at),
  }
}
