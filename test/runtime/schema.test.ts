import { mkdtempSync, readdirSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { LATEST_MIGRATION } from "../../src/app/schema-version.ts"
import { root } from "../../src/local/paths.ts"
import { fuzz } from "../fuzz/fuzz.ts"
import { eventually } from "../support/eventually.ts"
import { BOOTSTRAP, type Gateway, type Organization, startGateway } from "./gateway.ts"
import { buildPrevious, previous } from "./previous-release.ts"
import { startUpstream } from "./upstream.ts"
import { toNano } from "./setup.ts"
import { removeFolder } from "../support/remove-folder.ts"

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

/** The last migrations, if they add only what no call reads: calls work without them. */
const UNREAD_BY_CALLS: string[] = []
const COMMAND = "npx wrangler d1 migrations apply gateway --env production --remote"

describe("this release on an older schema", () => {
  test("is alive but not ready, and calls that need newer columns name the command, until the last migration", async () => {
    const gateway = await started(RELEASED)
    const newer = migrations.filter((name) => name > RELEASED)
    expect(newer.at(-1)).toBe(LATEST_MIGRATION)
    const unready = async (behind: string) => {
      expect((await read(gateway, "/health")).status).toBe(200)
      // The cached schema check may be half a second old.
      const { status, text } = await read(gateway, "/ready")
      expect([behind, status, text]).toEqual([behind, 503, expect.stringContaining(COMMAND)])
    }
    for (const name of newer) {
      await unready(name)
      const call = await read(gateway, "/api/v1/key", {
        headers: { authorization: `Bearer ${BOOTSTRAP}-wrong-${name}` },
      })
      if (UNREAD_BY_CALLS.includes(name)) expect([name, call.status]).toEqual([name, 401])
      else expect([name, call.status, call.text]).toEqual([name, 503, expect.stringContaining(COMMAND)])
      expect(await gateway.migrateTo(name)).toEqual([name])
    }
    await eventually(async () => expect((await read(gateway, "/ready")).status).toBe(200))
    expect((await gateway.newOrganization()).apiKey).toMatch(/^sk-gw-/)
  })
})

describe("a partially applied migration", () => {
  test("is reported by /ready, and the next attempt names it and changes nothing", async () => {
    const gateway = await started("0043")
    // The first statement of 0044, without its record.
    await gateway.execute("ALTER TABLE api_keys ADD COLUMN daily_limit_nano INTEGER")
    expect(await read(gateway, "/ready")).toEqual({ status: 503, text: expect.stringContaining('"schema":"behind"') })
    await expect(gateway.migrateTo("0044")).rejects.toThrow(
      /0044_intern_budgets\.sql .* duplicate column name: daily_limit_nano/,
    )
    await gateway.execute("ALTER TABLE api_keys DROP COLUMN daily_limit_nano")
    expect((await gateway.migrateTo("9999")).at(-1)).toBe(LATEST_MIGRATION)
    await eventually(async () => expect((await read(gateway, "/ready")).status).toBe(200))
  })
})

describe.runIf(previous)("the previous release", () => {
  test("runs on this release's schema: 600 generated requests from its API document cause no database error", async () => {
    const script = buildPrevious(previous ?? { commit: "" })
    const { statuses, exceptions, faults } = await fuzz({ seed: 3, count: 600, script, most: 1_000 })
    expect(exceptions.filter((line) => /D1_ERROR|SQLITE/.test(line))).toEqual([])
    expect(faults.filter(({ answer }) => answer.includes(COMMAND))).toEqual([])
    for (const status of [200, 201, 404]) expect(statuses[status]).toBeGreaterThan(0)
  })

  test("exchanges its data with this release: keys, balances, generations and the ledger's storage", async () => {
    const script = buildPrevious(previous ?? { commit: "" })
    const state = mkdtempSync(path.join(tmpdir(), "gateway-upgrade-"))
    const upstream = await startUpstream()
    onTestFinished(async () => {
      await upstream.close()
      removeFolder(state)
    })
    const calls: string[] = []
    let organization: Organization | undefined
    const turn = async (release: { script?: string; upTo?: string }) => {
      const gateway = await startGateway(upstream.baseUrl, {}, false, { ...release, state })
      try {
        organization ??= await gateway.newOrganization()
        const { apiKey, managementKey, id } = organization
        const { id: content } = upstream.expect({ pieces: ["Hello", " world"], reportsUsage: true })
        const body = { model: "scripted/model-0", stream: true, messages: [{ role: "user", content }] }
        const response = await gateway.post(apiKey, "/chat/completions", body)
        const text = await response.text()
        expect([response.status, text]).toEqual([200, expect.stringContaining("world")])
        calls.push(response.headers.get("x-generation-id") ?? "")
        for (const call of calls) await gateway.get(apiKey, `/generation?id=${call}`)
        await eventually(async () => expect(await gateway.rows(id)).toHaveLength(calls.length))
        const [key, credits] = await Promise.all([
          gateway.get<{ usage: number }>(apiKey, "/key"),
          gateway.get<{ total_usage: number; total_credits: number }>(managementKey, "/credits"),
        ])
        const rows = await gateway.rows(id)
        const sum = rows.reduce((total, row) => total + row.cost_nano, 0)
        expect({ key: toNano(key.usage), account: toNano(credits.total_usage), credit: credits.total_credits }).toEqual(
          {
            key: sum,
            account: sum,
            credit: 100,
          },
        )
        return sum
      } finally {
        await gateway.stop()
      }
    }
    const spent = [
      await turn({ script, upTo: RELEASED }),
      // The order of a deploy: the new schema with the old code, the new code, and a rollback.
      await turn({ script }),
      await turn({}),
      await turn({ script }),
      await turn({}),
    ]
    expect(spent[0]).toBeGreaterThan(0)
    expect(spent).toEqual(spent.map((_, at) => (at + 1) * (spent[0] ?? 0)))
  })
})
