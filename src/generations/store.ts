import { and, desc, eq, or, sql } from "drizzle-orm"
import type { AuditEntry } from "../audit/entry.ts"
import { auditStatement } from "../audit/store.ts"
import type { Generation } from "../ledger/generation.ts"
import { openDb } from "../support/db.ts"
import { type FeedbackRow, generationFeedback, generations } from "./table.ts"

/**
 * Inserts records (each the JSON of a Settled generation) in one statement, and marks their days as not summed; an
 * existing record is unchanged.
 */
export async function insertGenerations(db: D1Database, records: readonly string[]): Promise<void> {
  const all = `[${records.join(",")}]`
  const insert = db
    .prepare(
      `INSERT INTO generations
         (id, organization_id, workspace_id, key_hash, created_at, settled_at, model, upstream_id, cost_nano,
          byok_cost_nano, record)
       SELECT value ->> 'id', value ->> 'organizationId', value ->> 'workspaceId', value ->> 'keyHash',
         value ->> 'createdAt', coalesce(value ->> 'settledAt', value ->> 'createdAt'), value ->> 'model', value ->> 'upstreamId', value ->> 'costNano',
         value ->> 'byokCostNano', value
       FROM json_each(?) WHERE true
       ON CONFLICT DO NOTHING`,
    )
    .bind(all)
  const note = db
    .prepare(
      `INSERT INTO unsummed_days (organization_id, day)
       SELECT DISTINCT value ->> 'organizationId',
         date(coalesce(value ->> 'settledAt', value ->> 'createdAt') / 1000, 'unixepoch')
       FROM json_each(?) WHERE true
       ON CONFLICT DO NOTHING`,
    )
    .bind(all)
  await db.batch([insert, note])
}

/** The ids among these that exist. */
export async function findGenerationIds(db: D1Database, ids: readonly string[]): Promise<Set<string>> {
  const rows = await openDb(db)
    .select({ id: generations.id })
    .from(generations)
    .where(sql`${generations.id} IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`)
  return new Set(rows.map((row) => row.id))
}

/** By the gateway's or the provider's id, within the organization. */
export async function findGeneration(
  db: D1Database,
  organizationId: string,
  id: string,
): Promise<Generation | undefined> {
  const [row] = await openDb(db)
    .select({ record: generations.record })
    .from(generations)
    .where(
      and(eq(generations.organizationId, organizationId), or(eq(generations.id, id), eq(generations.upstreamId, id))),
    )
    .orderBy(desc(eq(generations.id, id)), desc(generations.createdAt))
    .limit(1)
  return row?.record
}

export async function insertFeedback(binding: D1Database, feedback: FeedbackRow, entry: AuditEntry): Promise<void> {
  const db = openDb(binding)
  await db.batch([db.insert(generationFeedback).values(feedback), auditStatement(db, entry)])
}
