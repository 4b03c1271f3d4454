import type { Generation } from "./generation.ts"

/** Insert records (each the JSON of a Generation), in one statement; one that is there already stays as it is. */
export async function insertGenerations(db: D1Database, records: readonly string[]): Promise<void> {
  await db
    .prepare(
      `INSERT INTO generations
         (id, organization_id, workspace_id, key_hash, created_at, model, upstream_id, cost_nano, byok_cost_nano, record)
       SELECT value ->> 'id', value ->> 'organizationId', value ->> 'workspaceId', value ->> 'keyHash',
         value ->> 'createdAt', value ->> 'model', value ->> 'upstreamId', value ->> 'costNano',
         value ->> 'byokCostNano', value
       FROM json_each(?) WHERE true
       ON CONFLICT DO NOTHING`,
    )
    .bind(`[${records.join(",")}]`)
    .run()
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
