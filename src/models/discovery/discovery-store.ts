import type { Model } from "../catalogue.ts"

/** Number of changes, and of the provider's endpoints without a price. */
export type MergeResult = { added: number; removed: number; unpriced: number }

/**
 * Merges a provider's list into the catalogue: known endpoints are unchanged, new ones are added, and discovered ones
 * that are no longer listed are removed unless an operator priced them.
 */
export async function mergeDiscovered(
  db: D1Database,
  provider: string,
  models: readonly Model[],
  now: number,
): Promise<MergeResult> {
  const rows = models.flatMap(({ endpoints, ...model }) =>
    endpoints.map((endpoint) => ({
      id: model.id,
      upstream_id: endpoint.upstreamId,
      model_facts: JSON.stringify({ ...model, id: undefined, discovered: true }),
      facts: JSON.stringify({ ...endpoint, model: undefined, provider: undefined }),
    })),
  )
  const listed = JSON.stringify(rows)
  const [, added, removed, , unpriced] = await db.batch<{ count: number }>([
    db
      .prepare(
        `INSERT INTO models (id, source, facts, updated_at)
         SELECT value ->> 'id', 'seed', value ->> 'model_facts', ?3 FROM json_each(?1)
         WHERE value ->> 'upstream_id' NOT IN (SELECT facts ->> 'upstreamId' FROM endpoints WHERE provider = ?2)
         ON CONFLICT (id) DO NOTHING`,
      )
      .bind(listed, provider, now),
    db
      .prepare(
        `INSERT INTO endpoints (model_id, provider, source, facts, updated_at)
         SELECT value ->> 'id', ?2, 'seed', value ->> 'facts', ?3 FROM json_each(?1)
         WHERE value ->> 'upstream_id' NOT IN (SELECT facts ->> 'upstreamId' FROM endpoints WHERE provider = ?2)
         ON CONFLICT (model_id, provider) DO NOTHING`,
      )
      .bind(listed, provider, now),
    db
      .prepare(
        `DELETE FROM endpoints
         WHERE provider = ?2 AND facts ->> 'discovered' AND price_override IS NULL
           AND facts ->> 'upstreamId' NOT IN (SELECT value ->> 'upstream_id' FROM json_each(?1))`,
      )
      .bind(listed, provider),
    db.prepare(
      `DELETE FROM models WHERE facts ->> 'discovered'
         AND NOT EXISTS (SELECT 1 FROM endpoints WHERE endpoints.model_id = models.id)`,
    ),
    db
      .prepare(
        `SELECT COUNT(*) AS count FROM endpoints
         WHERE provider = ?1 AND facts ->> 'pricing' IS NULL AND price_override IS NULL`,
      )
      .bind(provider),
  ])
  return {
    added: added?.meta.changes ?? 0,
    removed: removed?.meta.changes ?? 0,
    unpriced: unpriced?.results[0]?.count ?? 0,
  }
}
