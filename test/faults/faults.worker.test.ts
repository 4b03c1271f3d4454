import { env } from "cloudflare:workers"
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import { afterEach, describe, expect, test, vi } from "vitest"
import { invalidateOrganization } from "../../src/access/key-cache.ts"
import { useVariable } from "../support/variable.ts"
import { eventually } from "../support/eventually.ts"
import { internObject, parseConfigAgain } from "../support/intern-object.ts"
import { mockProvider } from "../support/mock-provider.ts"
import { sampled } from "../support/runs.ts"
import { expectJson, newWorkspace, operatorClient, type Workspace } from "../support/world.ts"
import { d1, keptCatalogue, onObjectCall, OVERLOADED, r2Fails, RESET } from "./bindings.ts"
import { type Cell, COST, newIntern, type Outcome, required, respond, type CallPath, callPaths } from "./call-paths.ts"

/**
 * Every fault of a bound service, crossed with every way to call a model. In each cell the response is right or a
 * correct error, nothing waits without end, and once the fault is over the ledger has charged what the provider
 * served, its records are in the database, and it holds nothing. `npm test` runs half of the cells, CI all.
 */

type Expected = "served" | number
/**
 * By way of calling: JSON, stream, agent loop, intern turn. `warm`: the isolate has the key, the catalogue and a
 * lease.
 */
type Row = {
  start?: (cell: Cell) => void
  /** Runs at the first call of the provider. */
  duringCall?: (cell: Cell) => Promise<unknown>
  /** Each cell has an intern, not only those of the intern turn. */
  needsIntern?: true
  /** Running calls die with their object: the ledger charges their lease, which is at least their cost. */
  losesCalls?: true
  warm?: Expectations
  cold?: Expectations
}
type Expectations = Record<CallPath["name"], Expected | readonly Expected[]>

const all = (expected: Expectations["JSON"]): Expectations => ({
  JSON: expected,
  stream: expected,
  "agent loop": expected,
  "intern turn": expected,
})
const SERVED = all("served")
/** The lease of the previous call may admit this one. */
const UNLESS_LEASED = all(["served", 503])

const kv = (text: string | null | Error) => ({ start: () => keptCatalogue(text) })

/** The first call of each ledger method fails; `arrives`: the ledger still performs it. */
function losesFirst(arrives: boolean): void {
  const seen = new Set<string>()
  onObjectCall([env.LEDGER], async ({ method, call }) => {
    if (seen.has(method)) return call()
    seen.add(method)
    if (arrives) await call()
    throw new Error(RESET)
  })
}

const overloaded = (namespace: DurableObjectNamespace) => () =>
  onObjectCall([namespace], () => Promise.reject(Object.assign(new Error(OVERLOADED), { overloaded: true })))

/** As when its machine dies: its storage survives. */
async function reset(object: DurableObjectStub): Promise<void> {
  await runInDurableObject(object, (_, state) => state.abort(RESET)).catch(() => undefined)
}

const rows: Record<string, Row> = {
  "D1 is slow": { start: d1.slow },
  // Every turn reads the intern's row; calls of a cached key read nothing.
  "D1 fails": { start: d1.fails, warm: { ...SERVED, "intern turn": 500 }, cold: all(503) },
  "D1 is read-only": { start: d1.isReadOnly },
  "D1 is full": { start: d1.isFull },
  "D1 is behind the schema": { start: d1.isBehind, cold: all(503) },
  "KV fails": kv(new Error("KV GET failed: 500 Internal Server Error")),
  "KV is empty": kv(null),
  "KV has an old catalogue": kv("[]"),
  "KV has a truncated catalogue": kv('[{"id":"acme/chat","endpoints":[{"provider":'),
  "KV has a catalogue of another shape": kv('{"models":[{"id":1}]}'),
  "KV has a catalogue with a broken row": kv('[null,{"id":"a/b"},{"id":"a/c","endpoints":7}]'),
  "R2 fails": { start: r2Fails },
  "the ledger is overloaded": { start: overloaded(env.LEDGER), warm: UNLESS_LEASED, cold: all(503) },
  "the intern is overloaded": {
    start: overloaded(env.INTERN),
    warm: { ...SERVED, "intern turn": 500 },
    cold: { ...SERVED, "intern turn": 500 },
  },
  "the ledger is reset before each first request": {
    start: () => losesFirst(false),
    warm: UNLESS_LEASED,
    cold: all(503),
  },
  "the ledger is reset before each first response": {
    start: () => losesFirst(true),
    warm: UNLESS_LEASED,
    cold: all(503),
  },
  "the ledger is evicted during the call": { duringCall: ({ workspace }) => evictDurableObject(workspace.object) },
  "the ledger is reset during the call": { duringCall: ({ workspace }) => reset(workspace.object) },
  "the intern is reset during the call": {
    needsIntern: true,
    duringCall: ({ internId }) => reset(internObject(required(internId))),
    warm: { ...SERVED, "intern turn": 502 },
    cold: { ...SERVED, "intern turn": 502 },
    losesCalls: true,
  },
}

/** Long enough for retries, and short enough to wait for its expiry. */
const HOLD_TTL_MS = "4000"
/** Longer than any lease lives without renewal. */
const LEASE_OVER_MS = 100_000
/** More than any timer of these calls. */
const ANSWERED_WITHIN_MS = 8_000

useVariable("HOLD_TTL_MS", HOLD_TTL_MS)
afterEach(() => vi.restoreAllMocks())

let models = 0

async function newCell(hasIntern: boolean): Promise<Cell> {
  const workspace = await newWorkspace()
  const settings = { is_observability_io_logging_enabled: true }
  await expectJson(200, workspace.manage.patch(`/workspaces/${workspace.workspaceId}`, settings))
  const model = `played/m${models++ % 50}`
  // A separate environment: an isolate caches the catalogue by environment.
  const internId = hasIntern ? await newIntern(workspace, model) : undefined
  if (internId !== undefined) await parseConfigAgain(internId)
  return { workspace, env: { ...env }, model, internId }
}

async function reconciled({ organizationId, ledger }: Workspace, losesCalls = false): Promise<number> {
  await eventually(async () => {
    // Flushes waiting settlements and renews the leases of this isolate; that of a call that died ends by itself.
    if (!losesCalls) await ledger.balance()
    // A new stub each time: one of an object that was reset is unusable.
    const object = env.LEDGER.get(env.LEDGER.idFromName(organizationId))
    expect(await object.holds()).toEqual([])
    await runDurableObjectAlarm(object)
  }, LEASE_OVER_MS)
  const { data } = await expectJson<{ data: object[] }>(
    200,
    operatorClient.post("/reconciliations", { organization_id: organizationId }),
  )
  expect(data).toMatchObject([{ drifts: [], restored_generations: 0 }])
  const row = await env.DB.prepare("SELECT sum(cost_nano) AS spent FROM generations WHERE organization_id = ?")
    .bind(organizationId)
    .first<{ spent: number | null }>()
  const { spentNano } = await ledger.balance()
  expect(row?.spent ?? 0).toBe(spentNano)
  return spentNano
}

const toExpected = (outcome: Outcome): Expected => (outcome.is === "served" ? "served" : outcome.code)

async function within(ms: number, outcome: Promise<Outcome>): Promise<Outcome | "no answer"> {
  const { promise: late, resolve } = Promise.withResolvers<"no answer">()
  const timer = setTimeout(() => resolve("no answer"), ms)
  return Promise.race([outcome, late]).finally(() => clearTimeout(timer))
}

type Done = { name: string; workspace: Workspace; providerCalls: () => number }

describe.each(Object.entries(rows))("%s", (name, { start, duringCall, needsIntern, losesCalls, ...expected }) => {
  const done: Done[] = []
  const row = Object.keys(rows).indexOf(name)
  for (const [index, state] of (["warm", "cold"] as const).entries()) {
    test.each(sampled(callPaths, 2, row + index))(
      `$name of ${state === "warm" ? "a warm isolate" : "a new isolate"}`,
      async (callPath) => {
        for (const level of ["error", "warn"] as const) vi.spyOn(console, level).mockImplementation(() => {})
        const cell = await newCell(needsIntern ?? callPath.name === "intern turn")
        // Flags, not promises: a promise awaited in one object's context cannot be resolved in another's.
        const gate = { isClosed: false, isReached: false }
        const provider = mockProvider(async (request) => {
          if (gate.isClosed) gate.isReached = true
          await eventually(() => expect(gate.isClosed).toBe(false))
          return respond(request)
        })
        done.push({
          name: `${callPath.name}, ${state}`,
          workspace: cell.workspace,
          providerCalls: () => provider.upstreamCalls.length,
        })
        if (state === "warm") expect(await callPath.call(cell)).toEqual({ is: "served" })
        else invalidateOrganization(cell.workspace.organizationId)
        start?.(cell)
        gate.isClosed = duringCall !== undefined
        const answer = within(ANSWERED_WITHIN_MS, callPath.call(cell))
        if (duringCall) {
          await eventually(() => expect(gate.isReached).toBe(true))
          await duringCall(cell)
          gate.isClosed = false
        }
        const outcome = await answer
        if (outcome === "no answer") throw new Error("There was no answer.")
        expect([(expected[state] ?? SERVED)[callPath.name]].flat()).toContain(toExpected(outcome))
      },
    )
  }

  test("afterwards, the ledger has charged what the provider served, and holds nothing", async () => {
    await Promise.all(
      done.map(async ({ name, workspace, providerCalls: calls }) => {
        const [spent, served] = [await reconciled(workspace, losesCalls), calls() * COST]
        if (losesCalls) expect(spent, name).toBeGreaterThanOrEqual(served)
        else expect(spent, name).toBe(served)
      }),
    )
  })
})
