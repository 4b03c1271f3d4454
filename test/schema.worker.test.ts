import { env } from "cloudflare:workers"
import { is } from "drizzle-orm"
import { getTableConfig, SQLiteTable } from "drizzle-orm/sqlite-core"
import { expect, test } from "vitest"

const modules = import.meta.glob<Record<string, unknown>>(["../src/*/table.ts"], { eager: true })
const tables = Object.values(modules)
  .flatMap((module) => Object.values(module))
  .filter((value) => is(value, SQLiteTable))
  .map((table) => getTableConfig(table))

/** Internal tables of SQLite, D1 and the migrations. */
const NOT_OURS = /^(sqlite_|_cf_|d1_migrations$)/

const { results: stored } = await env.DB.prepare("SELECT name, sql FROM sqlite_master WHERE type = 'table'").all<{
  name: string
  sql: string
}>()
const ours = stored.filter(({ name }) => !NOT_OURS.test(name))

type StoredColumn = { name: string; type: string; notnull: number; pk: number; dflt_value: string | null }

test("every table of the database is declared once", () => {
  expect(tables.map(({ name }) => name).toSorted()).toEqual(ours.map(({ name }) => name).toSorted())
})

test.each(tables)("the columns of $name match the database", async ({ name, columns, primaryKeys }) => {
  const { results } = await env.DB.prepare("SELECT * FROM pragma_table_info(?)").bind(name).all<StoredColumn>()
  const keys = primaryKeys.flatMap((key) => key.columns.map((column) => column.name))
  expect(
    columns.map((column) => ({
      name: column.name,
      type: column.getSQLType().toUpperCase(),
      notNull: column.notNull,
      primaryKey: column.primary || keys.includes(column.name),
      hasDefault: column.hasDefault,
    })),
  ).toEqual(
    results.map((column) => ({
      name: column.name,
      type: column.type,
      notNull: column.notnull === 1,
      primaryKey: column.pk > 0,
      hasDefault: column.dflt_value !== null,
    })),
  )
})

/** The values that a CHECK of the table allows in a column. */
function checkedValues(sql: string, column: string): string[] | undefined {
  const list = new RegExp(`\\b${column} IN \\(([^)]*)\\)`).exec(sql)?.[1]
  return list?.split(",").map((value) => value.trim().replaceAll("'", ""))
}

test.each(tables)("the enum values of $name match its checks", ({ name, columns }) => {
  const sql = ours.find((table) => table.name === name)?.sql ?? ""
  const described = columns.map((column) => [
    column.name,
    column.dataType === "boolean" ? ["0", "1"] : column.enumValues?.toSorted(),
  ])
  const checked = columns.map((column) => [column.name, checkedValues(sql, column.name)?.toSorted()])
  expect(described).toEqual(checked)
})
