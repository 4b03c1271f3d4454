import { type Column, type GetColumnData, getTableColumns, is, type SQLWrapper, SQL, sql } from "drizzle-orm"
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

/** The columns of a table, for SQL that is written by hand. `alias`: what the SQL calls the table. */
export function columnList(table: SQLiteTable, alias?: string): string {
  const names = Object.values(getTableColumns(table)).map(({ name }) => name)
  return names.map((name) => (alias === undefined ? name : `${alias}.${name}`)).join(", ")
}

/** A row as SQL that is written by hand returns it: by the names of the database, with booleans as 0 or 1. */
export type StoredRow = Readonly<Record<string, unknown>>

type Columns = Readonly<Record<string, Column>>

/** These columns of a stored row, which may have others besides, as Drizzle returns them. */
export function readColumns<T extends Columns>(
  columns: T,
  stored: StoredRow,
): { [Name in keyof T]: GetColumnData<T[Name]> }
export function readColumns(columns: Columns, stored: StoredRow): Record<string, unknown> {
  const entries = Object.entries(columns).map(([name, column]) => {
    const value = stored[column.name]
    return [name, value === null ? null : column.mapFromDriverValue(value)] as const
  })
  return Object.fromEntries(entries)
}

/** The row of a table in a stored row. */
export function toRow<T extends SQLiteTable>(table: T, stored: StoredRow): T["$inferSelect"] {
  return readColumns(getTableColumns(table), stored)
}
