import { type Column, getTableColumns, is, type SQLWrapper, SQL, sql } from "drizzle-orm"
import { drizzle } from "drizzle-orm/d1"
import type { SQLiteTable } from "drizzle-orm/sqlite-core"

const open = (binding: D1Database) => drizzle(binding)

/** A D1 database with typed tables. */
export type Db = ReturnType<typeof open>

const handles = new WeakMap<D1Database, Db>()

export function openDb(binding: D1Database): Db {
  const known = handles.get(binding)
  if (known) return known
  const db = open(binding)
  handles.set(binding, db)
  return db
}

/** A column without a value gets its default, as in `INSERT … VALUES`. */
function valueOf(column: Column, value: unknown): SQLWrapper {
  if (value !== undefined) return sql.param(value, column)
  if (is(column.default, SQL)) return column.default
  return column.default === undefined ? sql`NULL` : sql.param(column.default, column)
}

/** The part of `INSERT INTO table … SELECT …` that inserts the row only where `condition` is true. */
export function selectRow<T extends SQLiteTable>(table: T, row: T["$inferInsert"], condition: SQL): SQL {
  const given: Record<string, unknown> = row
  const values = Object.entries(getTableColumns(table)).map(([name, column]) => valueOf(column, given[name]))
  return sql`SELECT ${sql.join(values, sql`, `)} WHERE ${condition}`
}

/** The statement of a query, for a batch of statements that are written as SQL. */
export function toStatement(
  binding: D1Database,
  query: { toSQL(): { sql: string; params: unknown[] } },
): D1PreparedStatement {
  const { sql: text, params } = query.toSQL()
  return binding.prepare(text).bind(...params)
}
