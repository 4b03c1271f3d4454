import type { AuditEntry } from "../audit/entry.ts"
import { auditIfChanged, auditStatement } from "../audit/store.ts"
import type { Endpoint, Model } from "./catalogue.ts"
import type { Pricing } from "../money/pricing.ts"

export type Source = "seed" | "operator"
export type ModelFacts = Omit<Model, "id" | "endpoints">
export type EndpointFacts = Omit<Endpoint, "model" | "provider">

/** An endpoint as stored: what was put, and what the operator changed since. */
export type StoredEndpoint = {
  provider: string
  source: Source
  facts: EndpointFacts
  priceOverride: Pricing | null
  disabled: boolean
  updatedAt: number
}

export type StoredModel = {
  id: string
  source: Source
  facts: ModelFacts
  updatedAt: number
  endpoints: StoredEndpoint[]
}

/**
 * Put models with their endpoints, all or none. An operator's row is never changed by a seed, and the operator's price
 * and switch of an endpoint (`price_override`, `disabled`) are not touched at all. Rows that are not named stay.
 */
export async function upsertCatalogue(
  db: D1Database,
  models: readonly Model[],
  source: Source,
  now: number,
  entry: AuditEntry,
): Promise<{ models: number; endpoints: number }> {
  // What has a column of its own is undefined here, which JSON leaves out.
  const modelRows = models.map((model) => ({
    id: model.id,
    facts: JSON.stringify({ ...model, id: undefined, endpoints: undefined }),
  }))
  const endpointRows = models.flatMap(({ endpoints }) =>
    endpoints.map((endpoint) => ({
      model_id: endpoint.model,
      provider: endpoint.provider,
      facts: JSON.stringify({ ...endpoint, model: undefined, provider: undefined }),
    })),
  )
  await db.batch([
    // `WHERE true`: without it SQLite reads ON as a join of the SELECT.
    db
      .prepare(
        `INSERT INTO models (id, source, facts, updated_at)
         SELECT value ->> 'id', ?2, value ->> 'facts', ?3 FROM json_each(?1) WHERE true
         ON CONFLICT (id) DO UPDATE SET source = excluded.source, facts = excluded.facts, updated_at = excluded.updated_at
         WHERE models.source = 'seed' OR excluded.source = 'operator'`,
      )
      .bind(JSON.stringify(modelRows), source, now),
    db
      .prepare(
        `INSERT INTO endpoints (model_id, provider, source, facts, updated_at)
         SELECT value ->> 'model_id', value ->> 'provider', ?2, value ->> 'facts', ?3 FROM json_each(?1) WHERE true
         ON CONFLICT (model_id, provider) DO UPDATE
         SET source = excluded.source, facts = excluded.facts, updated_at = excluded.updated_at
         WHERE endpoints.source = 'seed' OR excluded.source = 'operator'`,
      )
      .bind(JSON.stringify(endpointRows), source, now),
    auditStatement(db, entry),
  ])
  return { models: modelRows.length, endpoints: endpointRows.length }
}

export type EndpointOverride = { pricing?: Pricing | null | undefined; disabled?: boolean | undefined }

/** The operator's own price (null: back to the one that was put) and switch. */
export async function overrideEndpoint(
  db: D1Database,
  modelId: string,
  provider: string,
  { pricing, disabled }: EndpointOverride,
  now: number,
  entry: AuditEntry,
): Promise<StoredEndpoint | undefined> {
  const [updated] = await db.batch<EndpointRow>([
    db
      .prepare(
        `UPDATE endpoints SET
         price_override = CASE WHEN ?3 THEN ?4 ELSE price_override END,
         disabled = coalesce(?5, disabled),
         updated_at = ?6
       WHERE model_id = ?1 AND provider = ?2
       RETURNING ${ENDPOINT_COLUMNS}`,
      )
      .bind(
        modelId,
        provider,
        pricing === undefined ? 0 : 1,
        pricing ? JSON.stringify(pricing) : null,
        disabled === undefined ? null : Number(disabled),
        now,
      ),
    auditIfChanged(db, entry),
  ])
  const row = updated?.results[0]
  return row && toStoredEndpoint(row)
}

const ENDPOINT_COLUMNS = "model_id, provider, source, facts, price_override, disabled, updated_at"

type ModelRow = { id: string; source: Source; facts: string; updated_at: number }
type EndpointRow = {
  model_id: string
  provider: string
  source: Source
  facts: string
  price_override: string | null
  disabled: number
  updated_at: number
}

/** Everything that is stored, by model id. No tenant: the catalogue is the deployment's. */
export async function listCatalogueRows(db: D1Database): Promise<StoredModel[]> {
  const [models, endpoints] = await db.batch<ModelRow | EndpointRow>([
    db.prepare("SELECT id, source, facts, updated_at FROM models ORDER BY id"),
    db.prepare(`SELECT ${ENDPOINT_COLUMNS} FROM endpoints ORDER BY model_id, provider`),
  ])
  const byModel = Map.groupBy((endpoints?.results ?? []) as EndpointRow[], (row) => row.model_id)
  return ((models?.results ?? []) as ModelRow[]).map((row) => ({
    id: row.id,
    source: row.source,
    facts: JSON.parse(row.facts) as ModelFacts,
    updatedAt: row.updated_at,
    endpoints: (byModel.get(row.id) ?? []).map(toStoredEndpoint),
  }))
}

function toStoredEndpoint(row: EndpointRow): StoredEndpoint {
  return {
    provider: row.provider,
    source: row.source,
    facts: JSON.parse(row.facts) as EndpointFacts,
    priceOverride: row.price_override === null ? null : (JSON.parse(row.price_override) as Pricing),
    disabled: row.disabled === 1,
    updatedAt: row.updated_at,
  }
}
