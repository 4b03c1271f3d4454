import type * as z from "zod"
import type { Principal } from "../access/principal.ts"
import { newId } from "../support/ids.ts"
import { toTimestamp } from "../support/time/time.ts"
import type { AuditRecord } from "./schemas.ts"
import type { AuditEntry } from "./table.ts"

export type { AuditEntry } from "./table.ts"

/** The actor of an event, with address, time and request. */
export type Actor = Pick<Principal, "organizationId" | "keyHash" | "label" | "creatorUserId"> & {
  ip: string | null
  userAgent: string | null
  requestId: string
  /** Epoch milliseconds. */
  at: number
}

export type AuditEvent = {
  /** Type of resource and action: `api_key.create`. */
  action: `${string}.${string}` | "denied"
  resourceId: string
  /** Null for resources outside of workspaces. */
  workspaceId: string | null
  changed?: FieldChanges
}

/** Names of the changed fields, with the new values of audited ones. */
export type FieldChanges = { fields: readonly string[]; values: Readonly<Record<string, unknown>> }

export const DENIED_RESOURCE = "route"

/** An entry of the audit log for an actor's event. */
export function newEntry(actor: Actor, { action, resourceId, workspaceId, changed }: AuditEvent): AuditEntry {
  const [resourceType = ""] = action.split(".")
  return {
    id: newId(),
    organizationId: actor.organizationId,
    workspaceId,
    createdAt: actor.at,
    action,
    resourceType: action === "denied" ? DENIED_RESOURCE : resourceType,
    resourceId,
    keyHash: actor.keyHash,
    keyLabel: actor.label,
    creatorUserId: actor.creatorUserId,
    ip: actor.ip,
    userAgent: actor.userAgent,
    requestId: actor.requestId,
    changedFields: changed?.fields ?? [],
    changes: changed?.values ?? {},
  }
}

const MAX_VALUE_LENGTH = 1_000

/**
 * Fields of a request body for the audit log. Values are included only for names in `audited` and only if they are
 * small, so that a field added later is not logged until it is listed.
 */
export function changesOf(input: Readonly<Record<string, unknown>>, audited: readonly string[]): FieldChanges {
  const set = Object.entries(input).filter(([, value]) => value !== undefined)
  const values = set.filter(
    ([name, value]) => audited.includes(name) && JSON.stringify(value).length <= MAX_VALUE_LENGTH,
  )
  return { fields: set.map(([name]) => name), values: Object.fromEntries(values) }
}

export function toAuditRecord(row: AuditEntry): z.infer<typeof AuditRecord> {
  return {
    id: row.id,
    action: row.action,
    resource_type: row.resourceType,
    resource_id: row.resourceId,
    workspace_id: row.workspaceId,
    key_hash: row.keyHash,
    key_label: row.keyLabel,
    creator_user_id: row.creatorUserId,
    ip_address: row.ip,
    user_agent: row.userAgent,
    request_id: row.requestId,
    changed_fields: [...row.changedFields],
    changes: row.changes,
    created_at: toTimestamp(row.createdAt),
  }
}
