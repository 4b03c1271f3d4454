import type { AuditRecord } from "../../api/account-types.ts"

export type Reason = { by: "directory" } | { by: "key"; label: string; at: string }

/**
 * Reason for which a key is disabled. The audit log, newest first, has each change by a key; a directory that deactivates the owner
 * disables the key without an entry, and removes the owner from the members.
 */
export function whyDisabled(records: readonly AuditRecord[], isOwnerMember: boolean): Reason | null {
  const last = records.find(({ changed_fields: fields }) => fields.includes("disabled"))
  if (last?.changes["disabled"] === true) return { by: "key", label: last.key_label, at: last.created_at }
  return isOwnerMember ? null : { by: "directory" }
}
