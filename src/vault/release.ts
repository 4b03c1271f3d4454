import type { Env } from "../config/env.ts"
import { openSigningKey } from "../secrets/data-key.ts"
import { masterKeysOf } from "../secrets/master-key.ts"
import { openSealed } from "../secrets/workspace-key.ts"
import { secretAad, placeholderOf, type ReleasedSecret, toHosts } from "./secret.ts"
import { findInternSecrets, type SealedSecret } from "./store.ts"

/**
 * Decrypted secrets of an intern by name, only for egress to their hosts. Omits secrets without hosts, and logs and
 * omits those that cannot be decrypted.
 */
export async function releaseSecrets(env: Env, internId: string): Promise<ReleasedSecret[]> {
  return openSecrets(env, await findInternSecrets(env.DB, internId))
}

/** Decrypts rows that were already read. */
export async function openSecrets(env: Env, secrets: readonly SealedSecret[]): Promise<ReleasedSecret[]> {
  const released = await Promise.all(secrets.map((secret) => release(env, secret)))
  return released.filter((secret) => secret !== undefined)
}

async function release(env: Env, secret: SealedSecret): Promise<ReleasedSecret | undefined> {
  const { name, sealed, vaultId: id, workspaceId, masterId, wrapped } = secret
  const hosts = toHosts(secret.hosts)
  if (hosts === null) return undefined
  const masters = masterKeysOf(env)
  const dataKey = { id, workspaceId, masterId, wrapped }
  const value = await openSealed({ aad: secretAad(secret), sealed, dataKey }, masters)
  const placeholders = await openSigningKey(dataKey, "vault-placeholders", masters)
  if (value === undefined || !placeholders) return undefined
  return { name, hosts, placeholder: await placeholderOf(placeholders, name), value }
}
