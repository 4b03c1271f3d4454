import { KEY_CACHE_MS } from "../access/key-cache.ts"
import type { KeyKind } from "../access/principal.ts"
import { findMember } from "../members/store.ts"
import type { MemberRow } from "../members/table.ts"
import { ExpiringMap } from "../support/time/expiring-map.ts"

/** The kind of key that has the rights of a role in the organization. */
export function kindOf({ role }: Pick<MemberRow, "role">): KeyKind {
  return role === "member" ? "normal" : "management"
}

const MAX_MEMBERS = 1_000
/** Cached for as long as an isolate caches a key. */
const kinds = new ExpiringMap<string, KeyKind | undefined>(MAX_MEMBERS, { longestMs: KEY_CACHE_MS })

type Person = Pick<MemberRow, "organizationId" | "userId">
const idOf = ({ organizationId, userId }: Person) => `${organizationId}/${userId}`

/** Undefined for a person who is not a member. */
export async function kindOfMember(db: D1Database, person: Person, now: number): Promise<KeyKind | undefined> {
  const cached = kinds.get(idOf(person), now)
  if (cached) return cached.value
  const member = await findMember(db, person.organizationId, person.userId)
  const kind = member && kindOf(member)
  kinds.set(idOf(person), kind, now + KEY_CACHE_MS)
  return kind
}

/** Clears the cache for a person who has just signed in. */
export function invalidateMember(person: Person): void {
  kinds.delete(idOf(person))
}
