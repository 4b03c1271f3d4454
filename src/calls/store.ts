import { and, type SQL, sql } from "drizzle-orm"
import { generations } from "../generations/table.ts"
import type { Generation } from "../ledger/generation.ts"
import { openDb, toStatement } from "../support/db.ts"
import { parseStored } from "../support/text/json.ts"
import type { CallSearch, Field, Filter, Sort } from "./query.ts"
import { rejectedCalls } from "./table.ts"

/** The organization, or only one of its keys. */
export type CallScope = { organizationId: string; keyHash: string | null }

export type StoredCall = {
  generation: Generation
  /** When it was charged or rejected: epoch milliseconds. */
  at: number
  /** Its value in the order of the list. */
  value: number
  keyName: string | null
  keyLabel: string | null
}

type Row = {
  record: string
  at: number
  sort_value: number
  id: string
  key_name: string | null
  key_label: string | null
}
type CallPosition = { at: number; id: string }

/** A search without an index reads at most this many of the newest calls per page. */
export const MAX_SCANNED = 20_000

/** The two tables with calls. */
const SOURCES = [
  { table: generations, at: sql`settled_at`, cost: sql`cost_nano + byok_cost_nano` },
  { table: rejectedCalls, at: sql`created_at`, cost: sql`0` },
] as const
type Source = (typeof SOURCES)[number]

export type CallPage = {
  calls: StoredCall[]
  /** Where reading stopped before the page was full; undefined if everything was read. */
  cut: CallPosition | undefined
}

/** A page of calls, plus one call if there are more. */
export async function searchCalls(db: D1Database, scope: CallScope, search: CallSearch): Promise<CallPage> {
  const inner = innerConditions(scope, search)
  const outer = outerConditions(scope, search)
  const isIndexed = outer.length === 0 && search.sort === "time"
  const scanned = isIndexed ? search.limit + 1 : MAX_SCANNED
  const page = pageQuery(
    search,
    SOURCES.map((source) => scanOf(source, inner, scanned)),
    outer,
  )
  const cuts = isIndexed ? [] : SOURCES.map((source) => endOfScan(source, inner))
  const [rows, ...found] = await db.batch<Row>([page, ...cuts].map((query) => toStatement(db, query)))
  const cut = found.flatMap(({ results }) => results).toSorted(newestFirst)[0]
  const calls = (rows?.results ?? []).map(toStoredCall)
  if (search.sort !== "time" || !cut) return { calls, cut }
  return { calls: calls.filter(({ at, generation: { id } }) => newestFirst({ at, id }, cut) <= 0), cut }
}

function newestFirst(a: CallPosition, b: CallPosition): number {
  return b.at - a.at || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0)
}

function toStoredCall({ record, at, sort_value: value, key_name: keyName, key_label: keyLabel }: Row): StoredCall {
  return { generation: parseStored<Generation>(record), at, value, keyName, keyLabel }
}

/** Conditions that use an index, for both tables. */
function innerConditions(scope: CallScope, { from, to, sort, filters, after }: CallSearch) {
  const keyHash = scope.keyHash ?? onlyOne(filters.get("key"))
  const session = onlyOne(filters.get("session_id"))
  return (at: SQL): SQL | undefined =>
    and(
      sql`organization_id = ${scope.organizationId}`,
      keyHash === undefined ? undefined : sql`key_hash = ${keyHash}`,
      session === undefined ? undefined : sql`record ->> 'sessionId' = ${session}`,
      sql`${at} >= ${from} AND ${at} < ${to}`,
      sort === "time" && after
        ? sql`${at} <= ${after.value} AND (${at} < ${after.value} OR id < ${after.id})`
        : undefined,
    )
}

function onlyOne(filter: Filter | undefined): string | undefined {
  return filter?.included.length === 1 && filter.excluded.length === 0 ? filter.included[0] : undefined
}

function scanOf({ table, at, cost }: Source, inner: (at: SQL) => SQL | undefined, limit: number): SQL {
  return sql`SELECT * FROM (SELECT id, ${at} AS at, workspace_id, key_hash, model, ${cost} AS cost, record
    FROM ${table} WHERE ${inner(at)} ORDER BY ${at} DESC, id DESC LIMIT ${limit})`
}

/** The last call that a scan reads if it does not read all. */
function endOfScan({ table, at }: Source, inner: (at: SQL) => SQL | undefined): SQL {
  return sql`SELECT id, ${at} AS at FROM ${table} WHERE ${inner(at)}
    ORDER BY ${at} DESC, id DESC LIMIT 1 OFFSET ${MAX_SCANNED - 1}`
}

function pageQuery(
  { sort, isDescending, limit, after }: CallSearch,
  scans: readonly SQL[],
  outer: readonly SQL[],
): SQL {
  // Always descending: for an ascending order, the values are negated.
  const value = isDescending ? VALUES[sort] : sql`-(${VALUES[sort]})`
  const position =
    sort !== "time" && after
      ? sql`sort_value < ${after.value} OR (sort_value = ${after.value} AND id < ${after.id})`
      : sql`1`
  const where = outer.length === 0 ? sql`1` : and(...outer)
  return sql`SELECT c.record, c.at, c.id, c.sort_value, k.name AS key_name, k.label AS key_label FROM (
      SELECT * FROM (
        SELECT id, at, key_hash, record, ${value} AS sort_value FROM (${sql.join([...scans], sql` UNION ALL `)})
        WHERE ${where})
      WHERE ${position} ORDER BY sort_value DESC, id DESC LIMIT ${limit + 1}) c
    LEFT JOIN api_keys k ON k.hash = c.key_hash ORDER BY c.sort_value DESC, c.id DESC`
}

const OUTCOME = sql`CASE WHEN id LIKE 'rej-%' THEN 'refused' WHEN record ->> 'ending' = 'cancelled' THEN 'cancelled'
  WHEN record ->> 'ending' = 'complete' AND record ->> 'status' < 400 THEN 'ok' ELSE 'failed' END`

const VALUES: Record<Sort, SQL> = {
  time: sql`at`,
  cost: sql`cost`,
  duration: sql`CASE WHEN record ->> 'latencyMs' IS NOT NULL
    THEN (record ->> 'latencyMs') + coalesce(record ->> 'generationMs', 0)
    WHEN ${OUTCOME} IN ('failed', 'cancelled') THEN max(0, at - (record ->> 'createdAt')) ELSE 0 END`,
  first_token: sql`coalesce(record ->> 'latencyMs', 0)`,
  tokens: sql`coalesce(record ->> '$.tokens.prompt', 0) + coalesce(record ->> '$.tokens.completion', 0)`,
}

const APP = sql`substr(coalesce(nullif(trim(record ->> 'appTitle'), ''), record ->> 'appUrl', ''), 1, 100)`

const COLUMNS: Record<Exclude<Field, "status" | "workspace" | "guardrail">, SQL> = {
  model: sql`model`,
  requested_model: sql`coalesce(record ->> 'requestedModel', model)`,
  provider: sql`coalesce(record ->> 'provider', '')`,
  key: sql`key_hash`,
  app: APP,
  session_id: sql`coalesce(record ->> 'sessionId', '')`,
  creator_user_id: sql`coalesce((SELECT creator_user_id FROM api_keys WHERE hash = key_hash), '')`,
  user: sql`coalesce(record ->> 'externalUser', '')`,
  preset: sql`coalesce(record ->> 'presetId', '')`,
}

/** Conditions that need the record of each call. */
function outerConditions({ organizationId, keyHash }: CallScope, { filters, text }: CallSearch): SQL[] {
  const conditions = [...filters].flatMap(([field, filter]) => {
    const hasIndex = field === "session_id" || (field === "key" && keyHash === null)
    const isIndexed = hasIndex && onlyOne(filter) !== undefined
    if (isIndexed) return []
    const matches = matcherOf(field, organizationId)
    return [
      ...(filter.included.length > 0 ? [matches(filter.included)] : []),
      ...(filter.excluded.length > 0 ? [sql`NOT (${matches(filter.excluded)})`] : []),
    ]
  })
  return text === null ? conditions : [...conditions, containsText(text)]
}

const valuesOf = (values: readonly string[]) => sql`(SELECT value FROM json_each(${JSON.stringify(values)}))`

function matcherOf(field: Field, organizationId: string): (values: readonly string[]) => SQL {
  if (field === "status") {
    return (values) => sql`(CAST(record ->> 'status' AS TEXT) IN ${valuesOf(values)}
      OR substr(record ->> 'status', 1, 1) || 'xx' IN ${valuesOf(values)} OR ${OUTCOME} IN ${valuesOf(values)})`
  }
  if (field === "guardrail") {
    return (values) => sql`EXISTS (SELECT 1 FROM json_each(coalesce(record -> 'guardrails', '[]')) finding
      WHERE finding.value ->> 'action' IN ${valuesOf(values)} OR finding.value ->> 'id' IN ${valuesOf(values)}
        OR finding.value ->> 'name' IN ${valuesOf(values)}
        OR EXISTS (SELECT 1 FROM json_each(finding.value -> 'patterns') pattern WHERE pattern.value IN ${valuesOf(values)}))`
  }
  if (field === "workspace") {
    return (values) => sql`workspace_id IN (SELECT id FROM workspaces WHERE organization_id = ${organizationId}
      AND (id IN ${valuesOf(values)} OR slug IN ${valuesOf(values)}))`
  }
  return (values) => sql`${COLUMNS[field]} IN ${valuesOf(values)}`
}

function containsText(text: string): SQL {
  const keys = sql`coalesce((SELECT name || ' ' || label FROM api_keys WHERE hash = key_hash), '')`
  const all = sql`id || ' ' || model || ' ' || ${APP} || ' ' || ${keys} || ' ' || coalesce(record ->> 'requestId', '')
    || ' ' || coalesce(record ->> 'externalUser', '') || ' ' || coalesce(record ->> 'sessionId', '')
    || ' ' || coalesce(record ->> 'upstreamId', '') || ' ' || coalesce(record ->> 'guardrails', '') || ' ' || coalesce(record ->> '$.error.message', '')`
  return sql`instr(lower(${all}), ${text}) > 0`
}

/** Calls that ended at `since` or later, oldest first. */
export async function listCallsSince(
  db: D1Database,
  { organizationId, keyHash }: CallScope,
  since: number,
  limit: number,
): Promise<StoredCall[]> {
  const scans = SOURCES.map(
    ({ table, at }) => sql`SELECT * FROM (SELECT id, ${at} AS at, key_hash, record FROM ${table}
      WHERE organization_id = ${organizationId} AND ${keyHash === null ? sql`1` : sql`key_hash = ${keyHash}`}
        AND ${at} >= ${since} ORDER BY ${at}, id LIMIT ${limit})`,
  )
  const rows = await openDb(db).all<Row>(sql`SELECT c.*, c.at AS sort_value, k.name AS key_name, k.label AS key_label
    FROM (${sql.join(scans, sql` UNION ALL `)}) c LEFT JOIN api_keys k ON k.hash = c.key_hash
    ORDER BY c.at, c.id LIMIT ${limit}`)
  return rows.map(toStoredCall)
}

/** Names of keys, workspaces and guardrails of an organization, by their ids. */
export async function findNames(db: D1Database, organizationId: string, ids: readonly string[]) {
  const rows = await openDb(db).all<{ id: string; name: string }>(sql`
    SELECT hash AS id, name FROM api_keys WHERE organization_id = ${organizationId} AND hash IN ${valuesOf(ids)}
    UNION ALL SELECT id, name FROM workspaces WHERE organization_id = ${organizationId} AND id IN ${valuesOf(ids)}
    UNION ALL SELECT id, name FROM guardrails WHERE organization_id = ${organizationId} AND id IN ${valuesOf(ids)}
    UNION ALL SELECT id, name FROM organizations WHERE id = ${organizationId} AND id IN ${valuesOf(ids)}`)
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** Name and masked text of a key. */
export async function findKeyNames(db: D1Database, organizationId: string, hash: string) {
  const [row] = await openDb(db).all<{ name: string; label: string }>(
    sql`SELECT name, label FROM api_keys WHERE organization_id = ${organizationId} AND hash = ${hash}`,
  )
  return { keyName: row?.name ?? null, keyLabel: row?.label ?? null }
}
