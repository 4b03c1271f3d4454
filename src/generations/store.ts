import type { AuditEntry } from "../audit/entry.ts"
import { auditStatement } from "../audit/store.ts"
import type { Generation } from "../ledger/generation.ts"

/**
 * Insert records (each the JSON of a Settled generation), in one statement, and with them note their days as not summed;
 * a record that is there already stays as it is.
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

/** Of these, the ids that are there. */
export async function findGenerationIds(db: D1Database, ids: readonly string[]): Promise<Set<string>> {
  const { results } = await db
    .prepare("SELECT id FROM generations WHERE id IN (SELECT value FROM json_each(?))")
    .bind(JSON.stringify(ids))
    .all<{ id: string }>()
  return new Set(results.map((row) => row.id))
}

/** By its own id or the provider's, within the organization. */
export async function findGeneration(
  db: D1Database,
  organizationId: string,
  id: string,
): Promise<Generation | undefined> {
  const row = await db
    .prepare(
      "SELECT record FROM generations WHERE organization_id = ? AND (id = ? OR upstream_id = ?) ORDER BY id = ? DESC, created_at DESC LIMIT 1",
    )
    .bind(organizationId, id, id, id)
    .first<{ record: string }>()
  return row ? (JSON.parse(row.record) as Generation) : undefined
}

export type Feedback = {
  id: string
  organizationId: string
  generationId: string
  category: string
  comment: string | null
  keyHash: string
  createdAt: number
}

export async function insertFeedback(db: D1Database, feedback: Feedback, entry: AuditEntry): Promise<void> {
  const { id, organizationId, generationId, category, comment, keyHash, createdAt } = feedback
  await db.batch([
    db
      .prepare(
        `INSERT INTO generation_feedback (id, organization_id, generation_id, category, comment, key_hash, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?)`,
      )
      .bind(id, organizationId, generationId, category, comment, keyHash, createdAt),
    auditStatement(db, entry),
  ])
}
