import type { Actor } from "../../audit/entry.ts"
import type { InternRow } from "../store.ts"

/** An embedded agent as the audit log knows it. */
export function actorOfIntern(intern: InternRow): Actor {
  return {
    organizationId: intern.organization_id,
    keyHash: intern.key_hash,
    label: `intern ${intern.name}`,
    creatorUserId: intern.creator_user_id,
    ip: null,
    userAgent: null,
    requestId: `intern-${intern.id}`,
    at: Date.now(),
  }
}
