import type { AuditEntry } from "../audit/entry.ts"
import { auditIfChanged } from "../audit/store.ts"
import type { WrappedKey } from "../secrets/data-key.ts"
import type { SecretQuery } from "./schemas.ts"
import type { SecretRow, ToldRow, Vault } from "./secret.ts"
import { type Counted, toPage } from "../support/rows.ts"

const TOLD_COLUMNS = "name, hosts, fingerprint, created_at"
const COLUMNS = `${TOLD_COLUMNS}, vault_id, workspace_id, sealed, version, created_by_key, creator_user_id`
const IN_PLACE = "organization_id = ?1 AND workspace_id = ?2 AND vault_id = ?3"

/** All of a vault can be opened at once in the memory that an isolate has. */
export const MAX_SECRETS = 1_000
export const MAX_SEALED_BYTES = 8 * 1_048_576

const placeOf = ({ organizationId, workspaceId, vaultId }: Vault) => [organizationId, workspaceId, vaultId]

/** By name. */
export async function listSecrets(
  db: D1Database,
  vault: Vault,
  page: SecretQuery,
): Promise<{ rows: ToldRow[]; total: number }> {
  return toPage(
    await db.batch<Counted<ToldRow>>([
      db
        .prepare(`SELECT ${TOLD_COLUMNS} FROM vault_secrets WHERE ${IN_PLACE} ORDER BY name LIMIT ?4 OFFSET ?5`)
        .bind(...placeOf(vault), page.limit, page.offset),
      db.prepare(`SELECT count(*) AS total FROM vault_secrets WHERE ${IN_PLACE}`).bind(...placeOf(vault)),
    ]),
  )
}

/** Those of these names that there are. */
export async function findSecrets(db: D1Database, vault: Vault, names: readonly string[]): Promise<SecretRow[]> {
  const { results } = await db
    .prepare(`SELECT ${COLUMNS} FROM vault_secrets WHERE ${IN_PLACE} AND name IN (SELECT value FROM json_each(?4))`)
    .bind(...placeOf(vault), JSON.stringify(names))
    .all<SecretRow>()
  return results
}

/** What a copy was made of, and that it is still so. */
export type Sources = { vaultId: string; versions: readonly Pick<SecretRow, "name" | "version">[] }

/**
 * Puts all of them, each in the place of the one with its name, or none: where the vault is gone or would hold more than
 * it may, or where a source is not what it was. A secret that was there keeps its `created_at`.
 */
export async function putSecrets(
  db: D1Database,
  vault: Vault,
  rows: readonly SecretRow[],
  sources: Sources,
  entry: AuditEntry,
): Promise<ToldRow[] | undefined> {
  const names = JSON.stringify(rows.map(({ name }) => name))
  const bytes = rows.reduce((sum, { sealed }) => sum + sealed.length, 0)
  const versions = JSON.stringify(sources.versions)
  // No condition hangs on what the batch itself puts: the first statement and the last one see the same.
  const others = `FROM vault_secrets WHERE ${IN_PLACE} AND name NOT IN (SELECT value FROM json_each(?11))`
  const where = `EXISTS (SELECT 1 FROM data_keys WHERE organization_id = ?1 AND workspace_id = ?2 AND id = ?3)
       AND (?10 IS NULL OR EXISTS (SELECT 1 FROM interns WHERE id = ?10 AND organization_id = ?1 AND vault_id = ?3))
       AND (SELECT count(*) ${others}) + json_array_length(?11) <= ${MAX_SECRETS}
       AND (SELECT coalesce(sum(octet_length(sealed)), 0) ${others}) + ?12 <= ${MAX_SEALED_BYTES}
       AND (SELECT count(*) FROM json_each(?14) AS source JOIN vault_secrets AS s ON s.vault_id = ?13
              AND s.name = source.value ->> 'name' AND s.version = source.value ->> 'version') = json_array_length(?14)`
  const put = db.prepare(
    `INSERT INTO vault_secrets (organization_id, workspace_id, vault_id, name, hosts, fingerprint, sealed, version,
       created_at, updated_at, created_by_key, creator_user_id)
     SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, ?15, ?16 WHERE ${where}
     ON CONFLICT (vault_id, name) DO UPDATE SET hosts = excluded.hosts, fingerprint = excluded.fingerprint,
       sealed = excluded.sealed, version = excluded.version, updated_at = excluded.updated_at,
       created_by_key = excluded.created_by_key, creator_user_id = excluded.creator_user_id
     RETURNING ${TOLD_COLUMNS}`,
  )
  const shared = [vault.internId, names, bytes, sources.vaultId, versions]
  const done = await db.batch<ToldRow>([
    ...rows.map(({ name, hosts, fingerprint, sealed, version, created_at: now, created_by_key, creator_user_id }) =>
      put.bind(
        ...placeOf(vault),
        name,
        hosts,
        fingerprint,
        sealed,
        version,
        now,
        ...shared,
        created_by_key,
        creator_user_id,
      ),
    ),
    auditIfChanged(db, entry),
  ])
  const told = done.slice(0, -1).flatMap(({ results }) => results)
  return told.length === rows.length ? told : undefined
}

/** False where there was none. */
export async function deleteSecret(db: D1Database, vault: Vault, name: string, entry: AuditEntry): Promise<boolean> {
  const [deleted] = await db.batch([
    db.prepare(`DELETE FROM vault_secrets WHERE ${IN_PLACE} AND name = ?4`).bind(...placeOf(vault), name),
    auditIfChanged(db, entry),
  ])
  return (deleted?.meta.changes ?? 0) > 0
}

/** Whether the vault holds as much as it may, so that nothing of this size can be put there. */
export async function isFull(db: D1Database, vault: Vault, bytes: number): Promise<boolean> {
  const row = await db
    .prepare(
      `SELECT count(*) AS total, coalesce(sum(octet_length(sealed)), 0) AS bytes FROM vault_secrets WHERE ${IN_PLACE}`,
    )
    .bind(...placeOf(vault))
    .first<{ total: number; bytes: number }>()
  return row !== null && (row.total >= MAX_SECRETS || row.bytes + bytes > MAX_SEALED_BYTES)
}

/** Removes a vault with its data key, for good; for the batch of whatever removes what the vault belongs to. */
export function deleteVaultStatements(
  db: D1Database,
  place: { organizationId: string; workspaceId: string },
  vaultId: string,
): D1PreparedStatement[] {
  const scope = [place.organizationId, place.workspaceId, vaultId]
  return [
    db.prepare(`DELETE FROM vault_secrets WHERE ${IN_PLACE}`).bind(...scope),
    db.prepare("DELETE FROM data_keys WHERE organization_id = ? AND workspace_id = ? AND id = ?").bind(...scope),
  ]
}

/** The running interns that are given what is in a vault: the one that owns it, and those that borrow it. */
export async function findUsers(db: D1Database, { organizationId, workspaceId, vaultId }: Vault): Promise<string[]> {
  const { results } = await db
    .prepare(
      `SELECT id FROM interns WHERE organization_id = ?1 AND workspace_id = ?2 AND status = 'running'
         AND (vault_id = ?3 OR attached_vault_id = ?3)`,
    )
    .bind(organizationId, workspaceId, vaultId)
    .all<{ id: string }>()
  return results.map(({ id }) => id)
}

/** A secret with the data key that opens it, sealed itself. */
export type SealedSecret = SecretRow & Pick<WrappedKey, "masterId" | "wrapped">

/** What an intern is given: its own vault's, and of the borrowed vault those whose names its own has not. By name. */
export function givenSecretsStatement(db: D1Database, internId: string): D1PreparedStatement {
  return db
    .prepare(
      `SELECT s.name, s.hosts, s.fingerprint, s.created_at, s.vault_id, s.workspace_id, s.sealed, s.version,
         s.created_by_key, s.creator_user_id,
         d.master_id AS masterId, d.wrapped
       FROM interns i
       JOIN vault_secrets s ON s.vault_id IN (i.vault_id, i.attached_vault_id)
         AND s.organization_id = i.organization_id AND s.workspace_id = i.workspace_id
       JOIN data_keys d ON d.id = s.vault_id AND d.organization_id = s.organization_id
       WHERE i.id = ?1 AND (s.vault_id = i.vault_id
         OR NOT EXISTS (SELECT 1 FROM vault_secrets own WHERE own.vault_id = i.vault_id AND own.name = s.name))
       ORDER BY s.name`,
    )
    .bind(internId)
}
