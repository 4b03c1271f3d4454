import { randomUUID } from "node:crypto"
import { parseStored } from "../support/text/json.ts"
import type { Migration } from "./spec.ts"

type Statement = { sql: string; params?: readonly string[] }
type Rows = Record<string, unknown>[]

/** Runs statements in one transaction and returns the rows of each. */
export type Batch = (statements: readonly Statement[]) => Promise<readonly Rows[]>

/** Used part of D1. */
export type Database = {
  prepare: (sql: string) => Prepared
  batch: (statements: Prepared[]) => Promise<{ results: Rows }[]>
}
type Prepared = { bind: (...values: unknown[]) => Prepared }

/** Uses Miniflare's proxy outside of the runtime: two round trips per statement, so only for few of them. */
export function proxiedBatch(database: Database): Batch {
  return async (statements) => {
    const prepared = statements.map(({ sql, params = [] }) => database.prepare(sql).bind(...params))
    return (await database.batch(prepared)).map(({ results }) => results)
  }
}

const BATCH_WORKER = `export default {
  async fetch(request, { DB, TOKEN }) {
    if (request.headers.get("authorization") !== TOKEN) return new Response("Forbidden", { status: 403 })
    const statements = await request.json()
    const prepared = statements.map(({ sql, params = [] }) => DB.prepare(sql).bind(...params))
    try {
      return Response.json((await DB.batch(prepared)).map(({ results }) => results))
    } catch (error) {
      return new Response(error.message, { status: 500 })
    }
  },
}`

type Sent = { method: "POST"; headers: { authorization: string }; body: string }
type Post = (init: Sent) => Promise<{ ok: boolean; text: () => Promise<string> }>

/**
 * A Worker that runs batches on its binding `DB`, in one round trip each. `options` are Miniflare's; `batchBy` takes a
 * function that sends a request to the Worker. All users of this machine can reach its port, so a token is required.
 */
export function newBatchWorker() {
  const token = randomUUID()
  const batchBy =
    (post: Post): Batch =>
    async (statements) => {
      const body = JSON.stringify(statements)
      const response = await post({ method: "POST", headers: { authorization: token }, body })
      const text = await response.text()
      if (!response.ok) throw new Error(text)
      return parseStored<Rows[]>(text)
    }
  return { options: { modules: true, script: BATCH_WORKER, bindings: { TOKEN: token } }, batchBy }
}

/** The table of `wrangler d1 migrations apply`, so that both tools can be used on one database. */
const CREATE = `CREATE TABLE IF NOT EXISTS d1_migrations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT UNIQUE,
  applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
)`

/**
 * Applies the missing migrations, each with its record: all in one transaction, or up to the first one that fails.
 * Returns their names. Throws if one fails, or if the database has migrations that this release does not know.
 */
export async function migrate(batch: Batch, migrations: readonly Migration[]): Promise<string[]> {
  const [, names = []] = await batch([{ sql: CREATE }, { sql: "SELECT name FROM d1_migrations" }])
  const applied = new Set(names.map(({ name }) => String(name)))
  const known = new Set(migrations.map(({ name }) => name))
  const newer = [...applied].filter((name) => !known.has(name))
  const missing = migrations.filter(({ name }) => !applied.has(name))
  if (newer.length > 0 && missing.length > 0) {
    throw new Error(
      `The database belongs to another release: it has ${newer.join(", ")}, which this release does not have, and lacks ` +
        `${missing.map(({ name }) => name).join(", ")}. Run the release that wrote it.`,
    )
  }
  // If one fails, all are rolled back; applying them one by one then shows which failed.
  if (missing.length === 0 || (await isApplied(batch, missing.flatMap(toStatements)))) return missing.map(nameOf)
  for (const migration of missing) {
    await batch(toStatements(migration)).catch((cause: unknown) => {
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new Error(
        `The migration ${migration.name} was not applied: ${reason}. Nothing of it was kept. If the database has a part of ` +
          "it already, undo that part, or restore a backup, and start again.",
        { cause },
      )
    })
  }
  return missing.map(nameOf)
}

const nameOf = ({ name }: Migration) => name

function toStatements({ name, statements }: Migration): Statement[] {
  const record = { sql: "INSERT INTO d1_migrations (name) VALUES (?)", params: [name] }
  return [...statements.map((sql) => ({ sql })), record]
}

async function isApplied(batch: Batch, statements: readonly Statement[]): Promise<boolean> {
  try {
    await batch(statements)
    return true
  } catch {
    return false
  }
}
