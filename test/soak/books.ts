import { execFileSync } from "node:child_process"
import { readdirSync } from "node:fs"
import path from "node:path"
import { DatabaseSync } from "node:sqlite"
import { root } from "../../src/dev/options.ts"
import { BOOTSTRAP, type Gateway, type Outage } from "./gateway.ts"
import type { Served } from "./provider.ts"
import type { Account } from "./traffic.ts"

type Json = Record<string, unknown>

export async function api<T = Json>(gateway: Gateway, key: string, resource: string, body?: object): Promise<T> {
  const response = await fetch(`${gateway.url}/api/v1${resource}`, {
    method: body ? "POST" : "GET",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${resource}: ${response.status} ${text.slice(0, 300)}`)
  return JSON.parse(text) as T
}

export async function chargedUsd(gateway: Gateway, { managementKey }: Account): Promise<number> {
  return (await api<{ data: { total_usage: number } }>(gateway, managementKey, "/credits")).data.total_usage
}

export async function driftsOf(gateway: Gateway, { organizationId }: Account): Promise<number> {
  type Found = { data: { drifts: unknown[] }[] }
  const { data } = await api<Found>(gateway, BOOTSTRAP, "/reconciliations", { organization_id: organizationId })
  return data.reduce((sum, { drifts }) => sum + drifts.length, 0)
}

/** `npm run gateway -- reconcile`; its output if it exits with another code than 0. */
export function reconcile(gateway: Gateway): string | undefined {
  try {
    execFileSync(process.execPath, ["src/dev/gateway.ts", "reconcile"], {
      cwd: root,
      encoding: "utf8",
      env: { ...process.env, GATEWAY_URL: `${gateway.url}/api/v1`, BOOTSTRAP_MANAGEMENT_KEY: BOOTSTRAP },
    })
    return undefined
  } catch (thrown) {
    return String(Reflect.get(thrown as object, "stdout") ?? thrown)
  }
}

type Row = { upstream_id: string | null; cost_nano: number; ending: string }

/** The records from the database file, after the gateway has ended. */
function recordsIn(folder: string): Row[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
  for (const file of files.filter((name) => name.endsWith(".sqlite"))) {
    const database = new DatabaseSync(path.join(folder, file), { readOnly: true })
    try {
      const tables = database.prepare("SELECT name FROM sqlite_master WHERE name = 'generations'").all()
      if (tables.length === 0) continue
      const rows = database
        .prepare("SELECT upstream_id, cost_nano, record ->> 'ending' AS ending FROM generations")
        .all()
      return rows as unknown as Row[]
    } finally {
      database.close()
    }
  }
  throw new Error("There is no database with generations.")
}

/** What an isolate had not reported when it was killed is charged by estimate: so long before a kill. */
const UNREPORTED_MS = 3_000

export type Books = {
  responses: number
  complete: number
  exact: number
  /** Complete for the provider, but interrupted by a kill or a disconnected client. */
  estimated: number
  endings: Record<string, number>
  servedUsd: number
  chargedUsd: number
  faults: string[]
}

/** Each complete response is charged once at its cost, unless its isolate was killed before it could report it. */
export function compare(folder: string, served: readonly Served[], outages: readonly Outage[]): Books {
  const rows = recordsIn(folder)
  const byUpstreamId = Map.groupBy(rows, ({ upstream_id: id }) => id ?? "")
  const books: Books = {
    responses: served.length,
    complete: 0,
    exact: 0,
    estimated: 0,
    endings: {},
    servedUsd: served.reduce((sum, { costNano }) => sum + costNano, 0) / 1e9,
    chargedUsd: rows.reduce((sum, { cost_nano: cost }) => sum + cost, 0) / 1e9,
    faults: [],
  }
  for (const { ending } of rows) books.endings[ending] = (books.endings[ending] ?? 0) + 1
  for (const { id, startedAt, endedAt, costNano, isComplete } of served) {
    if (!isComplete) continue
    books.complete++
    const found = byUpstreamId.get(id) ?? []
    const wasKilled = outages.some(({ from, to }) => startedAt <= to && endedAt >= from - UNREPORTED_MS)
    if (found.length > 1) books.faults.push(`${id} was charged ${found.length} times`)
    else if (found[0]?.cost_nano === costNano) books.exact++
    else if (wasKilled || found[0]?.ending === "cancelled") books.estimated++
    else books.faults.push(`${id} cost ${costNano} nano-USD and was charged ${found[0]?.cost_nano ?? "nothing"}`)
  }
  return books
}
