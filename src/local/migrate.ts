import type { Migration } from "./spec.ts"

/** What is used of D1. */
export type Database = {
  prepare: (statement: string) => Statement
  batch: (statements: Statement[]) => Promise<unknown>
}
type Statement = {
  bind: (...values: unknown[]) => Statement
  run: () => Promise<unknown>
  all: () => Promise<{ results: Record<string, unknown>[] }>
}

/** The table in which `wrangler d1 migrations apply` keeps its own record: either tool can follow the other. */
const CREATE = `CREATE TABLE IF NOT EXISTS d1_migrations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT UNIQUE,
  applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
)`

/**
 * Applies the migrations that the database lacks, each in a transaction with its record. Returns their names. Throws if
 * the database has migrations that this release does not know.
 */
export async function migrate(database: Database, migrations: readonly Migration[]): Promise<string[]> {
  await database.prepare(CREATE.replaceAll("\n", " ")).run()
  const { results } = await database.prepare("SELECT name FROM d1_migrations").all()
  const applied = new Set(results.map(({ name }) => String(name)))
  const known = new Set(migrations.map(({ name }) => name))
  const newer = [...applied].filter((name) => !known.has(name))
  const missing = migrations.filter(({ name }) => !applied.has(name))
  if (newer.length > 0 && missing.length > 0) {
    throw new Error(
      `The database is of another release: it has ${newer.join(", ")}, which this release does not know, and lacks ` +
        `${missing.map(({ name }) => name).join(", ")}. Run the release that wrote it.`,
    )
  }
  for (const { name, statements } of missing) {
    const record = database.prepare("INSERT INTO d1_migrations (name) VALUES (?)").bind(name)
    await database
      .batch([...statements.map((statement) => database.prepare(statement)), record])
      .catch((cause: unknown) => {
        const reason = cause instanceof Error ? cause.message : String(cause)
        throw new Error(
          `The migration ${name} was not applied: ${reason}. Nothing of it was kept. If the database has a part of it already, ` +
            "undo that part, or restore a backup, and start again.",
          { cause },
        )
      })
  }
  return missing.map(({ name }) => name)
}
