import { readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import { DatabaseSync } from "node:sqlite"
import { describe, expect, test } from "vitest"

const folder = path.join(import.meta.dirname, "../../d1-migrations")

/** The last migration before the first release with an upgrade path. */
const BEFORE_THE_RULE = "0031_intern_creator.sql"

const later = readdirSync(folder).filter((name) => name > BEFORE_THE_RULE)

function statementsOf(name: string): string[] {
  const sql = readFileSync(path.join(folder, name), "utf8").replaceAll(/--[^\n]*/g, "")
  return sql
    .split(";")
    .map((statement) => statement.replaceAll(/\s+/g, " ").trim())
    .filter(Boolean)
}

const ADDS = [
  /^CREATE TABLE (?:IF NOT EXISTS )?\w+ /i,
  /^CREATE INDEX (?:IF NOT EXISTS )?\w+ ON /i,
  /^CREATE UNIQUE INDEX (?:IF NOT EXISTS )?\w+ ON /i,
  // A row of the previous release lacks the column: it needs a default, or may be null.
  /^ALTER TABLE \w+ ADD COLUMN (?!.*NOT NULL(?!.*DEFAULT))/i,
  /^(?:INSERT|UPDATE) /i,
]

/** Removes rebuilt tables: created under another name, filled, and renamed to replace the old one. */
function withoutRebuilds(statements: readonly string[]): string[] {
  const left = [...statements]
  for (let at = 0; at < left.length; at++) {
    const [, name] = /^CREATE TABLE (\w+)_next /.exec(left[at] ?? "") ?? []
    if (name === undefined) continue
    const [fill = "", drop, rename] = left.slice(at + 1, at + 4)
    const isFilled = new RegExp(`^INSERT INTO ${name}_next SELECT [^;]* FROM ${name}(?: ORDER BY \\w+)?$`).test(fill)
    const isReplaced = drop === `DROP TABLE ${name}` && rename === `ALTER TABLE ${name}_next RENAME TO ${name}`
    if (isFilled && isReplaced) left.splice(at--, 4)
  }
  return left
}

type Column = { name: string; type: string; notnull: number; pk: number; dflt_value: string | null }

function shapeOf(db: DatabaseSync): Map<string, Map<string, Column>> {
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as { name: string }[]
  return new Map(
    tables.map(({ name }) => {
      const columns = db.prepare("SELECT * FROM pragma_table_info(?)").all(name) as Column[]
      return [name, new Map(columns.map((column) => [column.name, column]))]
    }),
  )
}

function migrated(upTo: (name: string) => boolean): DatabaseSync {
  const db = new DatabaseSync(":memory:")
  const names = readdirSync(folder).toSorted().filter(upTo)
  for (const name of names) db.exec(readFileSync(path.join(folder, name), "utf8"))
  return db
}

describe.each(later)("%s", (name) => {
  test("only adds, so that the previous release runs on the new schema", () => {
    const others = withoutRebuilds(statementsOf(name))
    expect(others.filter((statement) => !ADDS.some((form) => form.test(statement)))).toEqual([])
  })

  test("keeps every column that the previous release knows", () => {
    const before = shapeOf(migrated((one) => one < name))
    const after = shapeOf(migrated((one) => one <= name))
    for (const [table, columns] of before) {
      for (const [column, { type, dflt_value: fallback }] of columns) {
        expect(after.get(table)?.get(column), `${table}.${column}`).toMatchObject({ type, dflt_value: fallback })
      }
    }
  })
})

test.each([
  [0, []],
  [2, [{ name: "jurisdiction", value: "" }]],
])("a database with %i organizations records as jurisdiction: %j", (organizations, expected) => {
  const db = migrated((name) => name < "0049")
  for (let at = 0; at < organizations; at++) {
    db.prepare("INSERT INTO organizations (id, name, created_at) VALUES (?, 'o', 0)").run(`o-${at}`)
  }
  db.exec(readFileSync(path.join(folder, "0049_deployment.sql"), "utf8"))
  expect(db.prepare("SELECT * FROM deployment").all()).toEqual(expected)
})

test("a rebuilt table keeps its rows", () => {
  const before = migrated((name) => name < "0043")
  const insert = "INSERT INTO generations VALUES (?, 'o', 'w', 'k', ?, 'a/b', NULL, 7, 0, '{}', ?)"
  for (let at = 0; at < 3; at++) before.prepare(insert).run(`gen-${at}`, at, 9 - at)
  const rows = before.prepare("SELECT * FROM generations ORDER BY id").all()
  before.exec(readFileSync(path.join(folder, "0043_row_storage.sql"), "utf8"))
  expect(before.prepare("SELECT * FROM generations ORDER BY id").all()).toEqual(rows)
})
