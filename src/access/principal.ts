import type { ResetInterval } from "../money/windows.ts"
import type { RateLimits } from "../money/rate-limits.ts"

export const KEY_KINDS = ["normal", "management", "provisioning", "free_tier"] as const
export type KeyKind = (typeof KEY_KINDS)[number]

/** How a key was created: by POST /keys, for an app, for an intern, or in exchange for a workload's token. */
export const KEY_SOURCES = ["created", "app", "intern", "workload"] as const
export type KeySource = (typeof KEY_SOURCES)[number]

/** The authenticated identity of a request. What applies to its calls is its CallPolicy (policy/call-policy.ts). */
export type Principal = {
  /** SHA-256 of the key in hex: the key's id. */
  keyHash: string
  /** Masked key. */
  label: string
  kind: KeyKind
  source: KeySource
  /** The keys that created this one, the nearest first: their limits and guardrails apply to it. */
  ancestors: readonly Ancestor[]
  /** The bootstrap key, a Worker secret: may set up organizations, credit them and write the catalogue. */
  isOperator: boolean
  organizationId: string
  workspaceId: string
  creatorUserId: string | null
  /** The partner's user that the key was created for. */
  externalUser: string | null
  /** Nano-USD, null for no cap. */
  limitNano: number | null
  limitReset: ResetInterval | null
  /** Raises the limit until it ends; null for none. */
  limitIncrease: LimitIncrease | null
  includeByokInLimit: boolean
  /** Additional limit per UTC day of an intern's own key. Nano-USD, null for none. */
  dailyLimitNano: number | null
  /** Nano-USD spent by replaced keys that have other counters. */
  spentBeforeNano: number
  /** The first of the keys that this one replaced, whose counters it continues; null for none. */
  counterHash: string | null
  /** Null for none. */
  rates: RateLimits | null
  /** Models to try if a limit rejects the requested ones; null for those of the workspace. */
  overBudgetModels: readonly string[] | null
  /** Tools of MCP servers that the key may call, as `server/tool` or `server/*`; null for none. */
  mcpTools: readonly string[] | null
  /** Epoch milliseconds when the key, or an ancestor that invalidates it, expires. */
  expiresAt: number | null
  /** The intern of an intern's own key; otherwise null. */
  internId: string | null
  /** Rights of the organization. */
  hasInternsAccess: boolean
  canWriteVaults: boolean
}
/** Nano-USD, until an instant in epoch milliseconds. */
export type LimitIncrease = { nano: number; until: number }

/** A key that created this one, directly or not (keys/lineage.ts). */
export type Ancestor = Pick<
  Principal,
  | "keyHash"
  | "label"
  | "kind"
  | "limitNano"
  | "limitReset"
  | "limitIncrease"
  | "includeByokInLimit"
  | "dailyLimitNano"
  | "spentBeforeNano"
  | "counterHash"
  | "rates"
  | "mcpTools"
>

/**
 * The files and batches that a key sees in its workspace. `internId`: only those of this intern; `onlyKey`: only those
 * that this key made. Both null for all.
 */
export type ResourceScope = {
  organizationId: string
  workspaceId: string
  internId: string | null
  onlyKey: string | null
}

type Holder = Pick<Principal, "internId" | "source" | "kind" | "externalUser">

/** Keys of interns, apps, partners' users and the free tier see nothing that others of their workspace made. */
export function isConfined({ internId, source, kind, externalUser }: Holder): boolean {
  const isOfPartnerUser = externalUser !== null && kind === "normal"
  return internId !== null || source === "app" || kind === "free_tier" || isOfPartnerUser
}

export function resourceScopeOf(
  principal: Holder & Pick<Principal, "organizationId" | "workspaceId" | "keyHash">,
): ResourceScope {
  const { organizationId, workspaceId, internId, keyHash } = principal
  return { organizationId, workspaceId, internId, onlyKey: internId === null && isConfined(principal) ? keyHash : null }
}
