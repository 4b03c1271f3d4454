import { isConfined, type Principal } from "../../access/principal.ts"
import type { GatewayError } from "../../errors/errors.ts"
import { internError } from "../lifecycle/reasons.ts"

/** Key and user that created an intern or stored a secret. Older rows have no key. */
export type CreatorColumns = { createdByKey: string | null; creatorUserId: string | null }

/** Whether a key sees an intern. `row`: an intern of its workspace. */
export function maySee(
  principal: Pick<Principal, "internId" | "source" | "kind" | "externalUser" | "keyHash">,
  row: { id: string } & Pick<CreatorColumns, "createdByKey">,
): boolean {
  if (principal.internId !== null) return principal.internId === row.id
  return !isConfined(principal) || row.createdByKey === principal.keyHash
}

/**
 * Whether a key may move secrets: create a join token, borrow a vault, copy secrets of the workspace. Allowed for the
 * key that created the intern or stored the secret, keys of the same user, and management keys; never for an intern's
 * own key, which its agent has. An app or a workload acts for a user and controls only its own creations. Rows of other
 * organizations are never found.
 */
export function mayControl(
  { keyHash, creatorUserId, source, kind }: Pick<Principal, "keyHash" | "creatorUserId" | "source" | "kind">,
  creator: CreatorColumns,
): boolean {
  if (source === "intern") return false
  if (kind === "management" || creator.createdByKey === keyHash) return true
  return source === "created" && creatorUserId !== null && creatorUserId === creator.creatorUserId
}

export function noControlError(action: string): GatewayError {
  return internError("forbidden", `Only the key that ${action}, keys of the same user and management keys may do this.`)
}

/** An agent has its intern's own key, which must not change or delete the intern. */
export function forbidInternKeys({ internId }: Principal): void {
  if (internId !== null) throw internError("forbidden", "An intern's own key cannot change or delete its intern.")
}
