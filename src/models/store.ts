import { and, eq } from "drizzle-orm"
import type { AuditEntry } from "../audit/entry.ts"
import { auditIfChanged, auditStatement } from "../audit/store.ts"
import type { Model } from "./catalogue.ts"
import type { PriceList } from "../money/price-list.ts"
import { deployment } from "../config/table.ts"
import { openDb } from "../support/db.ts"
import { disabledProviders, type EndpointRow, endpoints, type ModelRow, models, type Source } from "./table.ts"

/** A stored endpoint: its catalogue entry and the operator's changes. */
export type StoredEndpoint = Omit<EndpointRow, "modelId">

export type StoredModel = ModelRow & { endpoints: StoredEndpoint[] }

/** `date`: of the data. `isComplete`: entries of earlier seeds that this one lacks are removed. */
type CatalogueWrite = {
  source: Source
  date?: string | undefined
  isComplete: boolean
  now: number
  entry: AuditEntry
}
type CatalogueCounts = { models: number; endpoints: number; removed_models: number; removed_endpoints: number }

/**
 * Writes models with their endpoints, all or none. A seed never changes an operator's row, and the operator's price and
 * switch of an endpoint (`price_override`, `disabled`) are never touched. Rows that are not named stay, unless the seed
 * is complete.
 */
export async function upsertCatalogue(
  db: D1Database,
  catalogue: readonly Model[],
  { source, date, isComplete, now, entry }: CatalogueWrite,
): Promise<CatalogueCounts> {
  // Fields with a separate column are undefined here, so that JSON omits them.
  const modelRows = catalogue.map((model) => ({
    id: model.id,
    facts: JSON.stringify({ ...model, id: undefined, endpoints: undefined }),
  }))
  const endpointRows = catalogue.flatMap((model) =>
    model.endpoints.map((endpoint) => ({
      model_id: endpoint.model,
      provider: endpoint.provider,
      facts: JSON.stringify({ ...endpoint, model: undefined, provider: undefined }),
    })),
  )
  const results = await db.batch([
    // `WHERE true`: without it SQLite parses ON as a join of the SELECT.
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
    ...(date === undefined ? [] : [db.prepare(SET_DATE).bind(date)]),
    ...(isComplete ? retireStatements(db, JSON.stringify(modelRows), JSON.stringify(endpointRows)) : []),
  ])
  const [endpointsGone, modelsGone] = isComplete ? results.slice(-2) : []
  return {
    models: modelRows.length,
    endpoints: endpointRows.length,
    removed_models: modelsGone?.meta.changes ?? 0,
    removed_endpoints: endpointsGone?.meta.changes ?? 0,
  }
}

const SET_DATE = `INSERT INTO deployment (name, value) VALUES ('seed_date', ?1)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value`

/**
 * Removes entries of earlier seeds that this one lacks. Discovered entries are removed when their provider no longer
 * lists them.
 */
function retireStatements(db: D1Database, modelRows: string, endpointRows: string): D1PreparedStatement[] {
  return [
    db
      .prepare(
        `DELETE FROM endpoints
         WHERE source = 'seed' AND facts ->> 'discovered' IS NULL AND price_override IS NULL AND disabled = 0
           AND (model_id, provider) NOT IN (SELECT value ->> 'model_id', value ->> 'provider' FROM json_each(?1))`,
      )
      .bind(endpointRows),
    db
      .prepare(
        `DELETE FROM models
         WHERE source = 'seed' AND facts ->> 'discovered' IS NULL
           AND id NOT IN (SELECT value ->> 'id' FROM json_each(?1))
           AND NOT EXISTS (SELECT 1 FROM endpoints WHERE endpoints.model_id = models.id)`,
      )
      .bind(modelRows),
  ]
}

/** The date of the last seed's data; null without one. */
export async function findSeedDate(binding: D1Database): Promise<string | null> {
  const [row] = await openDb(binding).select().from(deployment).where(eq(deployment.name, "seed_date"))
  return row?.value ?? null
}

export type EndpointOverride = { pricing?: PriceList | null | undefined; disabled?: boolean | undefined }

/** Sets the operator's price (null restores the catalogue's) and switch. */
export async function overrideEndpoint(
  binding: D1Database,
  { modelId, provider }: { modelId: string; provider: string },
  { pricing, disabled }: EndpointOverride,
  { now, entry }: { now: number; entry: AuditEntry },
): Promise<StoredEndpoint | undefined> {
  const db = openDb(binding)
  const [[updated]] = await db.batch([
    db
      .update(endpoints)
      .set({ priceOverride: pricing, disabled, updatedAt: now })
      .where(and(eq(endpoints.modelId, modelId), eq(endpoints.provider, provider)))
      .returning(),
    auditIfChanged(db, entry),
  ])
  return updated && toStoredEndpoint(updated)
}

/** Stops a provider for every organization, or resumes it. */
export async function setProviderDisabled(
  binding: D1Database,
  { provider, isDisabled }: { provider: string; isDisabled: boolean },
  { now, entry }: { now: number; entry: AuditEntry },
): Promise<void> {
  const db = openDb(binding)
  const write = isDisabled
    ? db.insert(disabledProviders).values({ provider, disabledAt: now }).onConflictDoNothing()
    : db.delete(disabledProviders).where(eq(disabledProviders.provider, provider))
  await db.batch([write, auditIfChanged(db, entry)])
}

/** Slugs, in alphabetical order. */
export async function listDisabledProviders(db: D1Database): Promise<string[]> {
  const rows = await openDb(db).select().from(disabledProviders).orderBy(disabledProviders.provider)
  return rows.map(({ provider }) => provider)
}

/** All stored rows, by model id. Not per tenant: the catalogue belongs to the deployment. */
export async function listCatalogueRows(binding: D1Database): Promise<StoredModel[]> {
  const db = openDb(binding)
  const [modelRows, endpointRows] = await db.batch([
    db.select().from(models).orderBy(models.id),
    db.select().from(endpoints).orderBy(endpoints.modelId, endpoints.provider),
  ])
  const byModel = Map.groupBy(endpointRows, (row) => row.modelId)
  return modelRows.map((row) => ({ ...row, endpoints: (byModel.get(row.id) ?? []).map(toStoredEndpoint) }))
}

function toStoredEndpoint(row: EndpointRow): StoredEndpoint {
  const { provider, source, facts, priceOverride, disabled, updatedAt } = row
  return { provider, source, facts, priceOverride, disabled, updatedAt }
}
