import type { Principal } from "../access/principal.ts"
import type { GatewayError } from "../errors/errors.ts"
import { internError } from "./reasons.ts"

/** Key and user that created an intern or stored a secret. Older rows have no key. */
export type Made = { createdByKey: string | null; creatorUserId: string | null }

/**
 * Whether a key may take secrets elsewhere: make a join token, borrow a vault, copy secrets of the workspace. The key
 * that made the intern or stored the secret may, each key of the same user, and management keys; an intern's own key,
 * which its agent has, never. An app or a workload acts for a user, and controls only what it made itself. Rows of
 * other organizations are not found in the first place.
 */
export function mayControl(
  { keyHash, creatorUserId, source, kind }: Pick<Principal, "keyHash" | "creatorUserId" | "source" | "kind">,
  made: Made,
): boolean {
  if (source === "intern") return false
  if (kind === "management" || made.createdByKey === keyHash) return true
  return source === "created" && creatorUserId !== null && creatorUserId === made.creatorUserId
}

export function notYours(what: string): GatewayError {
  return internError("forbidden", `Only the key that ${what}, keys of the same user and management keys may do this.`)
}

/** An agent has its intern's own key: it does not decide on the intern's record and life. */
export function requireNotOwnKey({ internId }: Principal): void {
  if (internId !== null) throw internError("forbidden", "An intern's own key cannot change or delete its intern.")
}
