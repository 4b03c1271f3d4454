import type { AuditEntry } from "../audit/entry.ts"
import { GatewayError } from "../errors/errors.ts"
import { openText } from "../secrets/seal.ts"
import { sealSecret, type VaultKeys } from "./sealing.ts"
import { secretAad, toHosts, type SecretSummaryRow, type Vault } from "./secret.ts"
import { findSecrets, putSecrets } from "./store.ts"
import type { SecretRow } from "./table.ts"

type Copy = {
  db: D1Database
  source: Vault
  target: Vault
  keys: { source: () => Promise<VaultKeys>; target: () => Promise<VaultKeys> }
  names: readonly string[]
  entry: AuditEntry
  /** Throws for a secret that the key may not copy. */
  requireControl: (row: SecretRow) => void
}

/** Attempts if a source changes between reading and copying. */
const ATTEMPTS = 3

/**
 * Copies secrets; returns them by name, undefined if they exceed the limit. Throws and copies nothing if a name is
 * missing (404), has no hosts (409), keeps being changed (409), or was stored by another user (403).
 */
export async function copySecrets(copy: Copy): Promise<SecretSummaryRow[] | undefined> {
  const { db, source, target, keys, names, entry, requireControl } = copy
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const found = findInOrder(names, await findSecrets(db, source, names))
    found.forEach(requireControl)
    const [from, into] = await Promise.all([keys.source(), keys.target()])
    const rows = await Promise.all(found.map((row) => reseal(row, { from, into, target, by: entry })))
    const copied = await putSecrets(db, {
      vault: target,
      rows,
      sources: { vaultId: source.vaultId, versions: versionsOf(found) },
      entry,
    })
    if (copied) return copied
    const now = await findSecrets(db, source, names)
    const isUnchanged = JSON.stringify(versionsOf(findInOrder(names, now))) === JSON.stringify(versionsOf(found))
    if (isUnchanged) return undefined
  }
  throw new GatewayError("conflict", "The secrets were modified concurrently. Retry.")
}

function versionsOf(rows: readonly SecretRow[]): Pick<SecretRow, "name" | "version">[] {
  return rows.map(({ name, version }) => ({ name, version }))
}

function findInOrder(names: readonly string[], rows: readonly SecretRow[]): SecretRow[] {
  const rowsByName = new Map(rows.map((row) => [row.name, row]))
  const missing = names.filter((name) => !rowsByName.has(name))
  if (missing.length > 0) {
    throw new GatewayError("not_found", `The workspace has no secret named ${missing.slice(0, 3).join(", ")}.`)
  }
  const found = names.flatMap((name) => rowsByName.get(name) ?? [])
  const unbound = found.find(({ hosts }) => hosts === null)
  if (!unbound) return found
  throw new GatewayError(
    "conflict",
    `The secret ${unbound.name} has no hosts. Store it again with hosts, then copy it.`,
  )
}

type Resealing = {
  from: VaultKeys
  into: VaultKeys
  target: Vault
  by: AuditEntry
}

async function reseal(row: SecretRow, { from, into, target, by }: Resealing): Promise<SecretRow> {
  const value = await openText(from.sealing, secretAad(row), row.sealed)
  if (value === undefined) throw new Error("A secret could not be decrypted with the data key of its vault.")
  return sealSecret(into, target, { name: row.name, hosts: toHosts(row.hosts) ?? [], value }, by)
}
