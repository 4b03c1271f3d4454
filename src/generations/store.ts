import type { AuditEntry } from "../audit/entry.ts"
import { auditStatement } from "../audit/store.ts"
import type { ActivityQuery } from "./activity.ts"
import type { Generation } from "./generation.ts"

/** Insert records (each the JSON of a Generation), in one statement; one that is there already stays as it is. */
export async function insertGenerations(db: D1Database, records: readonly string[]): Promise<void> {
  await db
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
    .bind(`[${records.join(",")}]`)
    .run()
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

export type ActivityRow = {
  date: string
  model: string
  provider: string
  workspace_id: string
  usage: number
  byok: number
  requests: number
  prompt: number
  completion: number
  reasoning: number
}

/** Answered calls by day, model and provider, and by workspace where that is asked. Nano-USD; instants epoch milliseconds. */
export async function readActivity(
  db: D1Database,
  organizationId: string,
  query: ActivityQuery & { from: number; to: number },
): Promise<ActivityRow[]> {
  const { results } = await db
    .prepare(
      `SELECT date(g.created_at / 1000, 'unixepoch') AS date, g.model, coalesce(g.record ->> 'provider', '') AS provider,
         iif(?6, g.workspace_id, '') AS workspace_id,
         sum(g.cost_nano) AS usage, sum(g.byok_cost_nano) AS byok, count(*) AS requests,
         sum(g.record ->> '$.tokens.prompt') AS prompt, sum(g.record ->> '$.tokens.completion') AS completion,
         sum(g.record ->> '$.tokens.reasoning') AS reasoning
       FROM generations g
       WHERE g.organization_id = ?1 AND g.created_at >= ?2 AND g.created_at < ?3 AND g.record ->> 'ending' <> 'refused'
         AND (?4 IS NULL OR g.key_hash = ?4) AND (?5 IS NULL OR g.workspace_id = ?5)
         AND (?7 IS NULL OR g.key_hash IN (SELECT hash FROM api_keys WHERE organization_id = ?1 AND creator_user_id = ?7))
       GROUP BY 1, 2, 3, 4 ORDER BY 1 DESC, usage DESC, 2, 3, 4`,
    )
    .bind(
      organizationId,
      query.from,
      query.to,
      query.api_key_hash ?? null,
      query.workspace_id ?? null,
      query.group_by === "workspace" ? 1 : 0,
      query.user_id ?? null,
    )
    .all<ActivityRow>()
  return results
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
