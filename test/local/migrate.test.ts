import { convertV4MiniflareOptions, Miniflare } from "miniflare"
import { afterAll, beforeEach, expect, test } from "vitest"
import { type Database, migrate } from "../../src/local/migrate.ts"

const runtime = new Miniflare(
  convertV4MiniflareOptions({
    cf: false,
    modules: true,
    script: "export default {}",
    d1Databases: ["A", "B", "C", "D"],
  }),
)
afterAll(() => runtime.dispose())

const names = ["A", "B", "C", "D"]
let database: Database
beforeEach(async () => {
  const made: unknown = await runtime.getD1Database(names.shift() ?? "")
  database = made as Database
})

const first = { name: "0001_first.sql", statements: ["CREATE TABLE a (x INTEGER)", "INSERT INTO a VALUES (1)"] }
const second = { name: "0002_second.sql", statements: ["CREATE TABLE b (x INTEGER)"] }

async function tables(): Promise<unknown[]> {
  const { results } = await database.prepare("SELECT name FROM sqlite_master WHERE name IN ('a', 'b')").all()
  return results.map(({ name }) => name)
}

test("each migration is applied once, in order", async () => {
  expect(await migrate(database, [first])).toEqual([first.name])
  expect(await migrate(database, [first, second])).toEqual([second.name])
  expect(await migrate(database, [first, second])).toEqual([])
  expect(await tables()).toEqual(["a", "b"])
})

test("a migration that fails leaves nothing behind and is tried again", async () => {
  const broken = { ...second, statements: [...second.statements, "INSERT INTO nowhere VALUES (1)"] }
  await expect(migrate(database, [first, broken])).rejects.toThrow("nowhere")
  expect(await tables()).toEqual(["a"])
  expect(await migrate(database, [first, second])).toEqual([second.name])
})

test("an older release runs on a newer schema: migrations only add", async () => {
  await migrate(database, [first, second])
  expect(await migrate(database, [first])).toEqual([])
})

test("a database of another line of releases is refused with both lists", async () => {
  await migrate(database, [second])
  await expect(migrate(database, [first])).rejects.toThrow(
    /has 0002_second\.sql, which this release does not know, and lacks 0001_first\.sql/,
  )
})
