import { useMemo } from "preact/hooks"
import type { AuditRecord } from "../../api/account-types.ts"
import { withParams } from "../../api/client.ts"
import { useAll } from "../../api/pages.ts"
import { useGet } from "../../api/query.ts"
import type { ApiKey, List, OrganizationMember } from "../../api/types.ts"
import { may } from "../../state/session.ts"
import { Time } from "../../ui/values.tsx"
import { whyDisabled } from "./why-disabled.ts"

const RECENT = 100

/** The reason for which each key of a list is disabled, from the latest changes of all keys. */
export function useDisabledReasons(isShown: boolean): (key: ApiKey) => string | null {
  const audit = useGet<List<AuditRecord>>(
    isShown && may("audit:read")
      ? withParams("/audit", { action: "api_key.update", resource_type: "api_key", limit: RECENT })
      : null,
  )
  const members = useAll<OrganizationMember>(isShown && may("members:read") ? "/organization/members" : null)
  const [records, people] = [audit.data, members.data]
  return useMemo(() => {
    if (!records || !people) return () => null
    const byKey = Map.groupBy(records.data, ({ resource_id: id }) => id)
    const ids = new Set(people.data.map(({ id }) => id))
    // An older change is not among them: without it, the directory is a guess.
    const isComplete = (records.total_count ?? RECENT) <= records.data.length
    return ({ hash, creator_user_id: owner }: ApiKey) => {
      const reason = whyDisabled(byKey.get(hash) ?? [], !isComplete || owner === null || ids.has(owner))
      return reason === null ? null : reason.by === "directory" ? "by a directory" : `by ${reason.label}`
    }
  }, [records, people])
}

/** Names the key or directory that disabled a key, beside its state. */
export function DisabledBy({ apiKey: { hash, creator_user_id: owner } }: { apiKey: ApiKey }) {
  const audit = useGet<List<AuditRecord>>(
    may("audit:read") ? withParams("/audit", { resource_type: "api_key", resource_id: hash, limit: 100 }) : null,
  )
  const members = useAll<OrganizationMember>(may("members:read") ? "/organization/members" : null)
  if (!audit.data || !members.data) return null
  const isMember = owner === null || members.data.data.some(({ id }) => id === owner)
  const reason = whyDisabled(audit.data.data, isMember)
  if (reason === null) return null
  if (reason.by === "directory")
    return (
      <span class="quiet">
        by a directory, which deactivated its owner. <a href="/settings?tab=directories">Directories</a>
      </span>
    )
  return (
    <span class="quiet">
      by <code>{reason.label}</code> <Time at={reason.at} />
    </span>
  )
}
