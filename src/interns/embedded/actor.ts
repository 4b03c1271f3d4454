import type { Actor } from "../../audit/entry.ts"
import type { InternRow } from "../table.ts"

/** The audit actor of an embedded agent. */
export function actorOfIntern(intern: InternRow): Actor {
  return {
    organizationId: intern.organizationId,
    keyHash: intern.keyHash,
    label: `intern ${intern.name}`,
    creatorUserId: intern.creatorUserId,
    ip: null,
    userAgent: null,
    requestId: `intern-${intern.id}`,
    at: Date.now(),
  }
}
