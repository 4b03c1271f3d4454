import { readdirSync } from "node:fs"
import path from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { LATEST_MIGRATION } from "../../src/app/schema-version.ts"
import { root } from "../../src/local/paths.ts"
import { fuzz } from "../fuzz/fuzz.ts"
import { eventually } from "../support/eventually.ts"
import { BOOTSTRAP, type Gateway, startGateway } from "./gateway.ts"
import { buildPrevious, previous } from "./previous-release.ts"

const migrations = readdirSync(path.join(root, "d1-migrations")).toSorted()
const RELEASED = "0031_intern_creator.sql"

async function read(gateway: Gateway, resource: string, init?: RequestInit) {
  const response = await fetch(`${gateway.url}${resource}`, init)
  return { status: response.status, text: await response.text() }
}

async function started(upTo: string): Promise<Gateway> {
  const gateway = await startGateway("http://127.0.0.1:9/v1", {}, true, { upTo })
  onTestFinished(gateway.stop)
  return gateway
}

const COMMAND = "npx wrangler d1 migrations apply gateway --env production --remote"

describe("this release on an older schema", () => {
  test("is alive and not ready, and a call names the command; each migration leaves it so, and the last one not", async () => {
    const gateway = await started(RELEASED)
    const newer = migrations.filter((name) => name > RELEASED)
    expect(newer.at(-1)).toBe(LATEST_MIGRATION)
    const unready = async (behind: string) => {
      expect((await read(gateway, "/health")).status).toBe(200)
      // The answer of the schema before may be half a second old.
      const { status, text } = await read(gateway, "/ready")
      expect([behind, status, text]).toEqual([behind, 503, expect.stringContaining(COMMAND)])
    }
    for (const name of newer) {
      await unready(name)
      const call = await read(gateway, "/api/v1/key", {
        headers: { authorization: `Bearer ${BOOTSTRAP}-wrong-${name}` },
      })
      expect([name, call.status, call.text]).toEqual([name, 503, expect.stringContaining(COMMAND)])
      expect(await gateway.migrateTo(name)).toEqual([name])
    }
    await eventually(async () => expect((await read(gateway, "/ready")).status).toBe(200), 10_000)
    expect((await gateway.newOrganization()).apiKey).toMatch(/^sk-gw-/)
  })
})

describe("a migration that was applied in part", () => {
  test("is told by /ready and by calls, and the next try names it and changes nothing", async () => {
    const gateway = await started("0043")
    // The first statement of 0044, without its record.
    await gateway.execute("ALTER TABLE api_keys ADD COLUMN daily_limit_nano INTEGER")
    expect(await read(gateway, "/ready")).toEqual({ status: 503, text: expect.stringContaining('"schema":"behind"') })
    await expect(gateway.migrateTo("0044")).rejects.toThrow(
      /0044_intern_budgets\.sql .* duplicate column name: daily_limit_nano/,
    )
    await gateway.execute("ALTER TABLE api_keys DROP COLUMN daily_limit_nano")
    expect((await gateway.migrateTo("9999")).at(-1)).toBe(LATEST_MIGRATION)
    await eventually(async () => expect((await read(gateway, "/ready")).status).toBe(200), 10_000)
  })
})

describe.runIf(previous)("the previous release", () => {
  test("runs on the schema of this one: 600 generated requests of its own document meet no error of the database", async () => {
    const script = buildPrevious(previous ?? { commit: "" })
    const { statuses, exceptions, faults } = await fuzz({ seed: 3, count: 600, script, most: 1_000 })
    expect(exceptions.filter((line) => /D1_ERROR|SQLITE/.test(line))).toEqual([])
    expect(faults.filter(({ answer }) => answer.includes(COMMAND))).toEqual([])
    for (const status of [200, 201, 404]) expect(statuses[status]).toBeGreaterThan(0)
  })
})
