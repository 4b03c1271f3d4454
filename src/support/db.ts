import { type Column, type GetColumnData, getTableColumns, is, type SQLWrapper, SQL, sql } from "drizzle-orm"
import { drizzle } from "drizzle-orm/d1"
import { SQLiteAsyncDialect, type SQLiteInsertValue, type SQLiteTable } from "drizzle-orm/sqlite-core"

const open = (binding: D1Database) => drizzle(binding)

/** A D1 database with typed tables. */
export type Db = ReturnType<typeof open>

const handles = new WeakMap<D1Database, Db>()

export function openDb(binding: D1Database): Db {
  const cached = handles.get(binding)
  if (cached) return cached
  const db = open(binding)
  handles.set(binding, db)
  return db
}

/** A column without a value gets its default, as in `INSERT … VALUES`. */
function valueOf(column: Column, value: unknown): SQLWrapper {
  if (is(value, SQL)) return value
  if (value !== undefined) return sql.param(value, column)
  if (is(column.default, SQL)) return column.default
  return column.default === undefined ? sql`NULL` : sql.param(column.default, column)
}

/** `INSERT INTO table … SELECT …` source that inserts the row only if `condition` is true. */
export function selectRow<T extends SQLiteTable>(table: T, row: SQLiteInsertValue<T>, condition: SQL): SQL {
  const fields: Record<string, unknown> = row
  const values = Object.entries(getTableColumns(table)).map(([name, column]) => valueOf(column, fields[name]))
  return sql`SELECT ${sql.join(values, sql`, `)} WHERE ${condition}`
}

const sqlBuilder = new SQLiteAsyncDialect()

/**
 * A query as a D1 statement, for a batch that also contains SQL with parameters: Drizzle's batch accepts none. The
 * results are stored rows.
 */
export function toStatement(binding: D1Database, query: SQLWrapper): D1PreparedStatement {
  const { sql: text, params } = sqlBuilder.sqlToQuery(query.getSQL())
  return binding.prepare(text).bind(...params)
}

/** The names of a table's columns, for handwritten SQL. */
export function columnNames<T extends SQLiteTable, Except extends keyof StoredOf<T> = never>(
  table: T,
  except: readonly Except[] = [],
): Exclude<keyof StoredOf<T>, Except>[] {
  const excluded: readonly unknown[] = except
  const names = Object.values(getTableColumns(table)).map(({ name }) => name)
  return names.filter((name) => !excluded.includes(name)) as Exclude<keyof StoredOf<T>, Except>[]
}

/** All columns of a table; `alias`: of the table in the SQL. */
export function columnList(table: SQLiteTable, alias?: string): string {
  const names = Object.values(getTableColumns(table)).map(({ name }) => name)
  return names.map((name) => (alias === undefined ? name : `${alias}.${name}`)).join(", ")
}

/** A row as handwritten SQL returns it: with database column names, and booleans as 0 or 1. */
export type StoredRow = Readonly<Record<string, unknown>>

type StoredValue<C extends Column> = C["_"]["data"] extends boolean ? number : C["_"]["data"]
type Nullable<C extends Column> = C["_"]["notNull"] extends true ? never : null

/** A complete stored row of a table. */
export type StoredOf<T extends SQLiteTable> = {
  [Name in keyof T["_"]["columns"] as T["_"]["columns"][Name]["_"]["name"]]:
    | StoredValue<T["_"]["columns"][Name]>
    | Nullable<T["_"]["columns"][Name]>
}

type Columns = Readonly<Record<string, Column>>

/** Converts these columns of a stored row to Drizzle's values; other columns are ignored. */
export function readColumns<T extends Columns>(
  columns: T,
  stored: StoredRow,
): { [Name in keyof T]: GetColumnData<T[Name]> }
export function readColumns(columns: Columns, stored: StoredRow): Record<string, unknown> {
  const row: Record<string, unknown> = {}
  for (const { name, storedName, decode } of readersOf(columns)) {
    const value = stored[storedName]
    row[name] = value === null || decode === undefined ? value : decode(value)
  }
  return row
}

type Reader = { name: string; storedName: string; decode: ((value: unknown) => unknown) | undefined }

const readers = new WeakMap<Columns, readonly Reader[]>()

/** Cached for each list of columns: rows are read with every key lookup. */
function readersOf(columns: Columns): readonly Reader[] {
  const cached = readers.get(columns)
  if (cached) return cached
  const columnReaders = Object.entries(columns).map(([name, column]) => ({
    name,
    storedName: column.name,
    decode: ["string", "number"].includes(column.dataType)
      ? undefined
      : (value: unknown) => column.mapFromDriverValue(value),
  }))
  readers.set(columns, columnReaders)
  return columnReaders
}

const columnsByTable = new WeakMap<SQLiteTable, Columns>()

/** The columns of a table, always as the same object. */
function columnsOf<T extends SQLiteTable>(table: T): T["_"]["columns"] {
  const columns = columnsByTable.get(table) ?? getTableColumns(table)
  columnsByTable.set(table, columns)
  return columns
}

/** Converts a stored row to a row of the table. */
export function toRow<T extends SQLiteTable>(table: T, stored: StoredRow): T["$inferSelect"] {
  return readColumns(columnsOf(table), stored)
}

/** The scheme and host of a stored URL: the rest may contain a token, which a search must not reveal. */
export const hostOf = (url: SQLWrapper): SQL =>
  sql`substr(${url}, 1, instr(substr(replace(replace(${url}, '?', '/'), '#', '/') || '/', 9), '/') + 8)`

/** SQLite folds only ASCII letters; both sides must be folded in the same way. */
const inLowerCase = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

/** Matches rows with this text in one of the columns, ignoring the case of ASCII letters. No pattern characters. */
export function containsText(text: string | undefined, columns: readonly SQLWrapper[]): SQL | undefined {
  const needle = inLowerCase(text ?? "").trim()
  if (needle === "") return undefined
  const found = columns.map((column) => sql`instr(lower(coalesce(${column}, '')), ${needle}) > 0`)
  return sql`(${sql.join(found, sql` OR `)})`
}
