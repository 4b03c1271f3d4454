import { convertV4MiniflareOptions, Miniflare } from "miniflare"
import { afterAll, beforeEach, describe, expect, test } from "vitest"
import { type Batch, type Database, migrate, newBatchWorker, proxiedBatch } from "../../src/local/migrate.ts"

const names = ["A", "B", "C", "D", "E", "F", "G", "H", "I", "J"]
const batchWorker = newBatchWorker()
const runtime = new Miniflare(
  convertV4MiniflareOptions({
    cf: false,
    workers: names.map((name) => ({
      name,
      ...batchWorker.options,
      d1Databases: { DB: name },
      unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
    })),
  }),
)
afterAll(() => runtime.dispose())

const first = { name: "0001_first.sql", statements: ["CREATE TABLE a (x INTEGER)", "INSERT INTO a VALUES (1)"] }
const second = { name: "0002_second.sql", statements: ["CREATE TABLE b (x INTEGER)"] }
const third = { name: "0003_third.sql", statements: ["CREATE TABLE c (x INTEGER)"] }

const ways: [string, (name: string) => Promise<Batch>][] = [
  [
    "the proxy",
    async (name) => {
      const database: unknown = await runtime.getD1Database("DB", name)
      return proxiedBatch(database as Database)
    },
  ],
  [
    "a Worker",
    async (name) => {
      const worker = await runtime.unsafeGetDirectURL(name)
      return batchWorker.batchBy((init) => fetch(worker, init))
    },
  ],
]

describe.each(ways)("by %s", (_, batchOf) => {
  let batch: Batch
  beforeEach(async () => {
    batch = await batchOf(names.shift() ?? "")
  })

  async function tables(): Promise<unknown[]> {
    const sql = "SELECT name FROM sqlite_master WHERE name IN ('a', 'b', 'c')"
    const [rows = []] = await batch([{ sql }])
    return rows.map(({ name }) => name)
  }

  test("each migration is applied once, in order", async () => {
    expect(await migrate(batch, [first])).toEqual([first.name])
    expect(await migrate(batch, [first, second, third])).toEqual([second.name, third.name])
    expect(await migrate(batch, [first, second, third])).toEqual([])
    expect(await tables()).toEqual(["a", "b", "c"])
  })

  test("a failed migration is named and rolled back, earlier ones stay, and it can be applied again", async () => {
    const broken = { ...second, statements: [...second.statements, "INSERT INTO nowhere VALUES (1)"] }
    await expect(migrate(batch, [first, broken, third])).rejects.toThrow(/0002_second\.sql was not applied: .*nowhere/)
    expect(await tables()).toEqual(["a"])
    expect(await migrate(batch, [first, second, third])).toEqual([second.name, third.name])
  })

  test("an older release runs on a newer schema", async () => {
    await migrate(batch, [first, second])
    expect(await migrate(batch, [first])).toEqual([])
  })

  test("a database with unknown and missing migrations is rejected with both lists", async () => {
    await migrate(batch, [second])
    await expect(migrate(batch, [first])).rejects.toThrow(
      /has 0002_second\.sql, which this release does not have, and lacks 0001_first\.sql/,
    )
  })
})

test("a batch without the token returns 403", async () => {
  const worker = await runtime.unsafeGetDirectURL("A")
  const body = JSON.stringify([{ sql: "SELECT 1" }])
  for (const headers of [{}, { authorization: "guess" }]) {
    expect((await fetch(worker, { method: "POST", headers, body })).status).toBe(403)
  }
})
