import type { Context, MiddlewareHandler } from "hono"
import type { WorkspaceBudgets } from "../budgets/budget.ts"
import type { OwnKey } from "../byok/usable-credentials.ts"
import { GatewayError } from "../errors/errors.ts"
import type { ResetInterval } from "../money/windows.ts"
import type { App } from "./app.ts"
import type { CallerGuardrails } from "../guardrails/applied.ts"
import type { DestinationHead } from "../observability/coverage.ts"
import type { Ancestor } from "../keys/lineage.ts"
import type { CallDefaults } from "../workspaces/settings.ts"
import { auditDenial } from "../audit/actor.ts"

export type KeyKind = "normal" | "management" | "provisioning" | "free_tier"

/** How a key came to be: by POST /keys, for an app, for an intern, or in exchange for a workload's token. */
export type KeySource = "created" | "app" | "intern" | "workload"

/** Who is asking. Made once, in authenticate.ts; nothing else reads the Authorization header. */
export type Caller = {
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
  includeByokInLimit: boolean
  /** Of the key's workspace, as are its budgets. */
  defaults: CallDefaults
  budgets: WorkspaceBudgets
  /** Of the key and its ancestors, of their creators and of their workspaces; null where there is none. */
  guardrails: CallerGuardrails | null
  /** Its own keys for providers, sealed. */
  byok: readonly OwnKey[]
  /** Who listens to calls of its workspace. */
  destinations: readonly DestinationHead[]
  /** Epoch milliseconds: when the key or an ancestor that it stops with expires. */
  expiresAt: number | null
  /** Of an intern's own key. */
  internId: string | null
  /** Of the organization: whether it is in the interns programme, and whether it may write to vaults. */
  isInProgramme: boolean
  mayWriteVaults: boolean
}

/** Management keys only: everything that changes an account. */
export const requireManagement: MiddlewareHandler<App> = async function requireManagement(c, next) {
  if (c.var.caller.kind !== "management") {
    deny(c, "Only management keys may perform this operation.")
  }
  return next()
}

/** Keys that may mint and manage keys: management keys, and provisioning keys, which manage nothing else. */
export const requireProvisioning: MiddlewareHandler<App> = async function requireProvisioning(c, next) {
  const { kind } = c.var.caller
  if (kind !== "management" && kind !== "provisioning") {
    deny(c, "Only management keys may perform this operation.")
  }
  return next()
}

/** The deployment's own key: what concerns more than one organization. */
export const requireOperator: MiddlewareHandler<App> = async function requireOperator(c, next) {
  if (!c.var.caller.isOperator) {
    deny(c, "Only the deployment's bootstrap management key may perform this operation.")
  }
  return next()
}

function deny(c: Context<App>, message: string): never {
  auditDenial(c)
  throw new GatewayError("forbidden", message)
}

/** Where a handler itself refuses a key, by what it is asked to do: that is kept, too. */
export const auditForbidden: MiddlewareHandler<App> = async function auditForbidden(c, next) {
  await next()
  if (c.error instanceof GatewayError && c.error.code === "forbidden") auditDenial(c)
}
