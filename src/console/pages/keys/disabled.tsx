import type { AuditRecord } from "../../api/account-types.ts"
import { withParams } from "../../api/client.ts"
import { useAll } from "../../api/pages.ts"
import { useGet } from "../../api/query.ts"
import type { ApiKey, List, OrganizationMember } from "../../api/types.ts"
import { may } from "../../state/session.ts"
import { Time } from "../../ui/values.tsx"
import { whyDisabled } from "./why-disabled.ts"

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
