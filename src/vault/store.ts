import { and, count, eq, getTableColumns, type SQL, sql } from "drizzle-orm"
import type { AuditEntry } from "../audit/entry.ts"
import { auditIfChanged } from "../audit/store.ts"
import type { WrappedKey } from "../secrets/data-key.ts"
import { dataKeys } from "../secrets/table.ts"
import { columnList, type Db, openDb, readColumns, selectRow, type StoredRow } from "../support/db.ts"
import { toCountedPage } from "../support/rows.ts"
import type { SecretQuery } from "./schemas.ts"
import type { SecretSummaryRow, Vault } from "./secret.ts"
import { type SecretRow, vaultSecrets } from "./table.ts"

/** All secrets of a vault can be decrypted at once in the memory of an isolate. */
export const MAX_SECRETS = 1_000
export const MAX_SEALED_BYTES = 8 * 1_048_576

const reported = {
  name: vaultSecrets.name,
  hosts: vaultSecrets.hosts,
  fingerprint: vaultSecrets.fingerprint,
  createdAt: vaultSecrets.createdAt,
}

type VaultScope = Pick<Vault, "organizationId" | "workspaceId" | "vaultId">

const isInVault = ({ organizationId, workspaceId, vaultId }: VaultScope) =>
  and(
    eq(vaultSecrets.organizationId, organizationId),
    eq(vaultSecrets.workspaceId, workspaceId),
    eq(vaultSecrets.vaultId, vaultId),
  )

/** By name. */
export async function listSecrets(
  binding: D1Database,
  vault: Vault,
  page: SecretQuery,
): Promise<{ rows: SecretSummaryRow[]; total: number }> {
  const db = openDb(binding)
  const where = isInVault(vault)
  return toCountedPage(
    await db.batch([
      db
        .select(reported)
        .from(vaultSecrets)
        .where(where)
        .orderBy(vaultSecrets.name)
        .limit(page.limit)
        .offset(page.offset),
      db.select({ total: count() }).from(vaultSecrets).where(where),
    ]),
  )
}

/** The existing secrets among these names. */
export async function findSecrets(db: D1Database, vault: Vault, names: readonly string[]): Promise<SecretRow[]> {
  const isNamed = sql`${vaultSecrets.name} IN (SELECT value FROM json_each(${JSON.stringify(names)}))`
  return openDb(db)
    .select()
    .from(vaultSecrets)
    .where(and(isInVault(vault), isNamed))
}

/** Versions of the secrets that a copy was made from, to check that they are unchanged. */
export type Sources = { vaultId: string; versions: readonly Pick<SecretRow, "name" | "version">[] }

/** Whether the vault exists, has room for the rows, and the sources are unchanged. */
function canPut(vault: Vault, rows: readonly SecretRow[], sources: Sources): SQL {
  const { organizationId, workspaceId, vaultId, internId } = vault
  const names = JSON.stringify(rows.map(({ name }) => name))
  const bytes = rows.reduce((sum, { sealed }) => sum + sealed.length, 0)
  const versions = JSON.stringify(sources.versions)
  const others = sql`FROM ${vaultSecrets}
    WHERE ${isInVault(vault)} AND ${vaultSecrets.name} NOT IN (SELECT value FROM json_each(${names}))`
  const conditions = [
    sql`EXISTS (SELECT 1 FROM ${dataKeys} WHERE ${dataKeys.organizationId} = ${organizationId}
      AND ${dataKeys.workspaceId} = ${workspaceId} AND ${dataKeys.id} = ${vaultId})`,
    sql`(${internId} IS NULL OR EXISTS (SELECT 1 FROM interns
      WHERE id = ${internId} AND organization_id = ${organizationId} AND vault_id = ${vaultId}))`,
    sql`(SELECT count(*) ${others}) + ${rows.length} <= ${MAX_SECRETS}`,
    sql`(SELECT coalesce(sum(octet_length(${vaultSecrets.sealed})), 0) ${others}) + ${bytes} <= ${MAX_SEALED_BYTES}`,
    sql`(SELECT count(*) FROM json_each(${versions}) AS source JOIN vault_secrets AS s ON s.vault_id = ${sources.vaultId}
      AND s.name = source.value ->> 'name' AND s.version = source.value ->> 'version') = ${sources.versions.length}`,
  ]
  return sql.join(conditions, sql` AND `)
}

type SecretsUpdate = {
  vault: Vault
  rows: readonly SecretRow[]
  sources: Sources
  entry: AuditEntry
}

/**
 * Inserts or replaces all rows, or none: if the vault is deleted or would exceed its limit, or if a source has changed.
 * A replaced secret keeps its `createdAt`.
 */
export async function putSecrets(
  binding: D1Database,
  { vault, rows, sources, entry }: SecretsUpdate,
): Promise<SecretSummaryRow[] | undefined> {
  const db = openDb(binding)
  // The condition does not depend on rows that the batch writes: it is the same for all its statements.
  const condition = canPut(vault, rows, sources)
  const upsertRow = (row: SecretRow) =>
    db
      .insert(vaultSecrets)
      .select(selectRow(vaultSecrets, row, condition))
      .onConflictDoUpdate({
        target: [vaultSecrets.vaultId, vaultSecrets.name],
        set: {
          hosts: row.hosts,
          fingerprint: row.fingerprint,
          sealed: row.sealed,
          version: row.version,
          updatedAt: row.updatedAt,
          createdByKey: row.createdByKey,
          creatorUserId: row.creatorUserId,
        },
      })
      .returning(reported)
  const [first, ...others] = rows.map(upsertRow)
  if (!first) return []
  const done = await db.batch([first, ...others, auditIfChanged(db, entry)])
  const written = done.flatMap((result) => (Array.isArray(result) ? result : []))
  return written.length === rows.length ? written : undefined
}

/** False if the secret did not exist. */
export async function deleteSecret(
  binding: D1Database,
  vault: Vault,
  name: string,
  entry: AuditEntry,
): Promise<boolean> {
  const db = openDb(binding)
  const [deleted] = await db.batch([
    db.delete(vaultSecrets).where(and(isInVault(vault), eq(vaultSecrets.name, name))),
    auditIfChanged(db, entry),
  ])
  return deleted.meta.changes > 0
}

/** Whether the vault has no room for this many bytes. */
export async function isFull(db: D1Database, vault: Vault, bytes: number): Promise<boolean> {
  const [totals] = await openDb(db)
    .select({ total: count(), bytes: sql<number>`coalesce(sum(octet_length(${vaultSecrets.sealed})), 0)` })
    .from(vaultSecrets)
    .where(isInVault(vault))
  return totals !== undefined && (totals.total >= MAX_SECRETS || totals.bytes + bytes > MAX_SEALED_BYTES)
}

/** Deletes a vault with its data key; for the batch that deletes its owner. */
export function deleteVaultQueries(
  db: Db,
  { organizationId, workspaceId }: { organizationId: string; workspaceId: string },
  vaultId: string,
) {
  const isKey = and(
    eq(dataKeys.organizationId, organizationId),
    eq(dataKeys.workspaceId, workspaceId),
    eq(dataKeys.id, vaultId),
  )
  return [
    db.delete(vaultSecrets).where(isInVault({ organizationId, workspaceId, vaultId })),
    db.delete(dataKeys).where(isKey),
  ] as const
}

/** Running interns with access to a vault: its owner and those that attached it. */
export async function findUsers(db: D1Database, { organizationId, workspaceId, vaultId }: Vault): Promise<string[]> {
  const rows = await openDb(db).all<{ id: string }>(
    sql`SELECT id FROM interns WHERE organization_id = ${organizationId} AND workspace_id = ${workspaceId}
      AND status = 'running' AND (vault_id = ${vaultId} OR attached_vault_id = ${vaultId})`,
  )
  return rows.map(({ id }) => id)
}

/** A secret with the data key that decrypts it, itself sealed. */
export type SealedSecret = SecretRow & Pick<WrappedKey, "masterId" | "wrapped">

const SECRET_COLUMNS = columnList(vaultSecrets, "s")

/** Secrets of an intern by name: of its own vault, and those of the attached vault with other names. */
export function internSecretsStatement(db: D1Database, internId: string): D1PreparedStatement {
  return db
    .prepare(
      `SELECT ${SECRET_COLUMNS}, d.master_id, d.wrapped
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

const sealing = { masterId: dataKeys.masterId, wrapped: dataKeys.wrapped }

/** A row of `givenSecretsStatement`. */
export function toSealedSecret(stored: StoredRow): SealedSecret {
  return readColumns({ ...getTableColumns(vaultSecrets), ...sealing }, stored)
}

export async function findInternSecrets(db: D1Database, internId: string): Promise<SealedSecret[]> {
  const { results } = await internSecretsStatement(db, internId).all<StoredRow>()
  return results.map(toSealedSecret)
}
