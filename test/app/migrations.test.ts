import { readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import { expect, test } from "vitest"

const folder = path.join(import.meta.dirname, "../../d1-migrations")

/** Applied before the first release that has an upgrade path. */
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

test.each(later)("%s only adds, so that the previous release runs on the new schema", (name) => {
  expect(statementsOf(name).filter((statement) => !ADDS.some((form) => form.test(statement)))).toEqual([])
})
