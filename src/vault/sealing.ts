import type { AuditEntry } from "../audit/entry.ts"
import { openDataKey, openSigningKey, type WrappedKey } from "../secrets/data-key.ts"
import { type MasterKeys, wrongMasterKeyError } from "../secrets/master-key.ts"
import { sealText } from "../secrets/seal.ts"
import { newId } from "../support/ids.ts"
import { secretAad, fingerprintOf, type Vault } from "./secret.ts"
import type { SecretRow } from "./table.ts"

/** Keys of one vault: for the values and for their fingerprints. */
export type VaultKeys = { sealing: CryptoKey; fingerprints: CryptoKey }

export async function openVault(dataKey: WrappedKey, masters: MasterKeys): Promise<VaultKeys> {
  const sealing = await openDataKey(dataKey, masters)
  const fingerprints = await openSigningKey(dataKey, "vault-fingerprints", masters)
  if (!sealing || !fingerprints) throw wrongMasterKeyError("vault")
  return { sealing, fingerprints }
}

/** Seals a value for its row. The version is authenticated, so that an older sealed value cannot be restored. */
export async function sealSecret(
  { sealing, fingerprints }: VaultKeys,
  { organizationId, workspaceId, vaultId }: Vault,
  secret: { name: string; hosts: readonly string[]; value: string },
  by: Pick<AuditEntry, "keyHash" | "creatorUserId" | "createdAt">,
): Promise<SecretRow> {
  const aad = { vaultId, workspaceId, name: secret.name, version: newId() }
  return {
    ...aad,
    organizationId,
    hosts: JSON.stringify(secret.hosts),
    fingerprint: await fingerprintOf(fingerprints, secret.value),
    sealed: await sealText(sealing, secretAad(aad), secret.value),
    createdByKey: by.keyHash,
    creatorUserId: by.creatorUserId,
    createdAt: by.createdAt,
    updatedAt: by.createdAt,
  }
}
