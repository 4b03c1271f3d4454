import type { Caller } from "./call-policy.ts"
import type { Env } from "../config/env.ts"
import { type ByokRoutes, type ByokCredential, usableCredentials } from "../byok/usable-credentials.ts"
import { reachableProviders } from "../providers/configured.ts"
import { mastersOf } from "../secrets/master-key.ts"
import { openSealed } from "../secrets/workspace-key.ts"
import { aboutKey } from "../byok/credential.ts"

/** What the caller's own keys open; undefined for a caller who has none. */
export function byokRoutesOf(caller: Caller, env: Env): ByokRoutes | undefined {
  if (caller.byok.length === 0) return undefined
  const keys = usableCredentials(caller)
  return keys.length === 0 ? undefined : { keys, providers: reachableProviders(env) }
}

/** A key in clear, for the one request that is sent with it: it is opened anew for each, and kept nowhere. */
export function openByokCredential({ id, workspaceId, provider, version, sealed, dataKey }: ByokCredential, env: Env) {
  const about = aboutKey({ id, workspaceId, provider, version })
  return openSealed({ about, sealed, dataKey }, mastersOf(env))
}
