import type { Caller } from "./call-policy.ts"
import type { Env } from "../config/env.ts"
import { type ByokRoutes, type ByokCredential, usableCredentials } from "../byok/usable-credentials.ts"
import { reachableProviders } from "../providers/configured.ts"
import { masterKeysOf } from "../secrets/master-key.ts"
import { openSealed } from "../secrets/workspace-key.ts"
import { keyAad } from "../byok/credential.ts"

/** Usable credentials of the principal and the reachable providers; undefined if there are no credentials. */
export function byokRoutesOf(caller: Caller, env: Env): ByokRoutes | undefined {
  const keys = usableCredentials(caller)
  return keys.length === 0 ? undefined : { keys, providers: reachableProviders(env) }
}

/** Decrypts a credential for one request; the result is never cached. */
export function openByokCredential({ id, workspaceId, provider, version, sealed, dataKey }: ByokCredential, env: Env) {
  const aad = keyAad({ id, workspaceId, provider, version })
  return openSealed({ aad, sealed, dataKey }, masterKeysOf(env))
}
