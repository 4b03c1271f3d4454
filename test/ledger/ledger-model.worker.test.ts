import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"
import * as fc from "fast-check"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import type { Ledger } from "../../durable-objects/ledger/ledger.ts"
import { type HoldRequest, type HoldVerdict, newLeaseId, NOTHING_TO_REPORT } from "../../src/ledger/protocol.ts"
import { type ProviderVerdict, providerOf, providerScope } from "../../src/ledger/provider-limits.ts"
import { workspaceScope } from "../../src/ledger/scopes.ts"
import { isUsable } from "../../src/ledger/lease.ts"
import type { Leases } from "../../src/ledger/leases.ts"
import { LedgerClient } from "../../src/ledger/client.ts"
import { newShared } from "../../src/ledger/shared.ts"
import type { Counters, Limit } from "../../src/ledger/limits.ts"
import { type ResetInterval, windowStart } from "../../src/money/windows.ts"
import { type GenerationDraft, type Settled, unsettledGeneration } from "../../src/ledger/generation.ts"
import { minuteOf, type RateLimit } from "../../src/ledger/rates.ts"
import { NO_RATES, type RateLimits } from "../../src/money/rate-limits.ts"
import type { Timer } from "../../src/support/time/time.ts"
import { newTestDraft } from "../support/draft.ts"
import { runs, sampled } from "../support/runs.ts"

/**
 * The ledger and the isolates that use it, under any schedule of calls, faults and changes. Commands move the timers and
 * the clock, and choose which messages are lost and which isolates crash.
 */

const TTL_MS = 120_000
/** Longer than a settlement waits in a batch. */
const BATCH_MS = 120
const DAY_MS = 86_400_000
const SCOPES = ["account", "key:k", workspaceScope("w")] as const

type Stub = DurableObjectStub<Ledger>
type Fault = "request lost" | "answer lost"

/** The network of one isolate. Calls of a dead isolate neither arrive nor return. */
class Connection {
  isDead = false
  readonly next: Fault[] = []
  inFlight = 0
  sent = 0

  of(stub: Stub): Stub {
    const transmit = async <T>(call: () => Promise<T>): Promise<T> => {
      if (this.isDead) return new Promise(() => {})
      const fault = this.next.shift()
      if (fault === "request lost") throw new Error("The request was lost.")
      this.inFlight += 1
      this.sent += 1
      try {
        const answer = await call()
        if (this.isDead) return await new Promise(() => {})
        if (fault === "answer lost") throw new Error("The answer was lost.")
        return answer
      } finally {
        this.inFlight -= 1
      }
    }
    const connected = {
      hold: (...args: Parameters<Ledger["hold"]>) => transmit(async () => stub.hold(...args)),
      report: (...args: Parameters<Ledger["report"]>) => transmit(async () => stub.report(...args)),
      release: (...args: Parameters<Ledger["release"]>) => transmit(async () => stub.release(...args)),
    }
    return connected as unknown as Stub
  }
}

/** Timers that move only with the clock of the test. */
class ManualTimer implements Timer {
  #due: { at: number; run: () => void }[] = []

  after(ms: number, run: () => void): () => void {
    const timer = { at: Date.now() + ms, run }
    this.#due.push(timer)
    return () => (this.#due = this.#due.filter((one) => one !== timer))
  }

  wait = (ms: number) => new Promise<undefined>((resolve) => this.after(ms, () => resolve(undefined)))

  fire(): void {
    const ripe = this.#due.filter(({ at }) => at <= Date.now())
    this.#due = this.#due.filter(({ at }) => at > Date.now())
    for (const { run } of ripe) run()
  }
}

/** The timers of one call, which end with its context. */
class CallTimer implements Timer {
  isDead = false
  readonly #timer: Timer

  constructor(timer: Timer) {
    this.#timer = timer
  }

  after(ms: number, run: () => void): () => void {
    return this.#timer.after(ms, () => {
      if (!this.isDead) run()
    })
  }

  wait = (ms: number) => new Promise<undefined>((resolve) => this.after(ms, () => resolve(undefined)))
}

type Isolate = {
  connection: Connection
  leaseBook: Leases
  client: LedgerClient
  clientWith: (timer: Timer) => LedgerClient
}

type Call = {
  id: string
  isolate: Isolate
  mostNano: number
  estimateNano: number
  /** `lost`: every attempt to settle it failed, and its isolate lives. */
  state: "open" | "settling" | "settled" | "lost" | "orphan" | "released"
  /** The lease that alone covered it when it was settled. */
  leaseId: string | undefined
  /** Ends its heartbeat. */
  stop: () => void
  timer: CallTimer
  costNano: number
  /** The ledger knows its id, so it must get a record. */
  isKnown: boolean
  /** Its lease ended before the ledger knew its id: it is part of the unattributed charge. */
  mayBeLost: boolean
  wasAdmitted: boolean
  /** The minute of its admission, the tokens counted then, and the tokens used. */
  minute: number
  tokens: number
  usedTokens: number
  /** Its hold may have expired while it ran. */
  hasJumped: boolean
  /** Its possible providers, with the most nano-USD that it may cost there. */
  providers: { slug: string; mostNano: number }[]
}

type Budget = { nano: number; interval: ResetInterval | null }

/** Candidates of calls where providers have budgets; `c` has none. */
const CANDIDATES = [["a"], ["a", "b"], ["b", "c"], ["b"], ["a", "b", "c"], ["c"]] as const

class Simulation {
  readonly organizationId: string = crypto.randomUUID()
  readonly timer = new ManualTimer()
  readonly ledger: Stub = env.LEDGER.get(env.LEDGER.newUniqueId())
  isolates: Isolate[] = []
  readonly calls = new Map<string, Call>()
  credited = 0
  keyLimit: { nano: number; interval: ResetInterval | null } = { nano: 50_000, interval: null }
  budgetNano = 60_000
  rates: readonly RateLimit[] = []
  /** By slug; empty when no provider has a budget. */
  readonly providerBudgets = new Map<string, Budget>()
  /** settled + held of each scope in its window at the last check. */
  before = new Map<string, number>()
  credits = 0
  /** The least nano-USD that the ledger must charge for each lease of a crashed isolate. */
  readonly lost = new Map<string, number>()

  constructor() {
    this.isolates = [this.newIsolate(), this.newIsolate()]
  }

  newIsolate(): Isolate {
    const [connection, shared] = [new Connection(), newShared()]
    const clientWith = (timer: Timer) =>
      new LedgerClient(() => connection.of(this.ledger), shared, { waitUntil: () => {}, timer })
    return { connection, leaseBook: shared.leases, client: clientWith(this.timer), clientWith }
  }

  limits(): Limit[] {
    return [
      { scope: "key:k", limitNano: this.keyLimit.nano, interval: this.keyLimit.interval, includeByok: false },
      { scope: SCOPES[2], limitNano: this.budgetNano, interval: "daily", includeByok: false },
    ]
  }

  providerLimits(): Limit[] {
    return [...this.providerBudgets].map(([slug, { nano, interval }]) => {
      return { scope: providerScope(slug), limitNano: nano, interval, includeByok: false }
    })
  }

  /** The most expensive candidate needs `mostNano`; each accepts a third. */
  providerHolds(slugs: readonly string[], mostNano: number): HoldRequest["providers"] {
    const limits = this.providerLimits()
    const wantedAt = (slug: string) => {
      const most = slug === slugs.at(-1) ? mostNano : Math.ceil(mostNano / 2)
      return { leastNano: Math.floor(most / 3), mostNano: most }
    }
    const limited = slugs
      .filter((slug) => this.providerBudgets.has(slug))
      .map((provider) => {
        const matching = limits.filter(({ scope }) => scope === providerScope(provider))
        return { provider, isByok: false, limits: matching, wanted: wantedAt(provider) }
      })
    const other = slugs.find((slug) => !this.providerBudgets.has(slug))
    return { limited, others: other === undefined ? null : wantedAt(other) }
  }

  async credit(nano: number): Promise<void> {
    await this.ledger.credit(`c${this.credits++}`, nano)
    this.credited += nano
  }

  draft(id: string, streamed: boolean): GenerationDraft {
    return { ...newTestDraft({ id, organizationId: this.organizationId, workspaceId: "w", keyHash: "k" }), streamed }
  }

  async open(isolate: Isolate, mostNano: number, streamed: boolean): Promise<HoldVerdict | undefined> {
    const id = `gen-${crypto.randomUUID()}`
    const estimateNano = Math.ceil(mostNano / 3)
    const hasBudgets = this.providerBudgets.size > 0
    const slugs = hasBudgets ? (CANDIDATES[this.calls.size % CANDIDATES.length] ?? []) : []
    const providers = this.providerHolds(slugs, mostNano)
    const request: HoldRequest = {
      draft: this.draft(id, streamed),
      wanted: { leastNano: mostNano, mostNano },
      chargesAccount: true,
      limits: this.limits(),
      ...(hasBudgets && providers?.limited.length && { providers }),
      ...(this.rates.length > 0 && { rates: { limits: this.rates, tokens: mostNano } }),
      estimateNano,
      ttlMs: TTL_MS,
    }
    const verdict = await isolate.client.hold(request).catch(() => undefined)
    const state = verdict?.ok ? "open" : "orphan"
    const timer = new CallTimer(this.timer)
    const stop = verdict?.ok
      ? isolate.clientWith(timer).track(id, { estimate: () => estimateNano, ttlMs: TTL_MS, heldAt: Date.now() })
      : () => {}
    // A call whose hold was lost never began; the hold, if it was written, belongs to no call.
    this.calls.set(id, {
      id,
      isolate,
      mostNano: verdict?.ok ? verdict.grantedNano : mostNano,
      estimateNano,
      state,
      leaseId: undefined,
      stop,
      timer,
      costNano: 0,
      isKnown: false,
      mayBeLost: false,
      wasAdmitted: verdict?.ok ?? false,
      minute: minuteOf(Date.now()),
      tokens: mostNano,
      usedTokens: mostNano,
      hasJumped: false,
      providers: verdict?.ok ? grantsOf(slugs, providers?.limited, verdict) : [],
    })
    return verdict
  }

  /** A separate hold that is released without a call. */
  async holdAndRelease(isolate: Isolate, mostNano: number): Promise<void> {
    const client = new LedgerClient(() => isolate.connection.of(this.ledger), newShared(), { timer: this.timer })
    const verdict = await this.open({ ...isolate, client }, mostNano, false)
    const call = [...this.calls.values()].at(-1)
    if (!verdict?.ok || !call) return
    call.stop()
    let isOver = false
    void client.release(call.id).finally(() => (isOver = true))
    for (let waits = 0; !isOver && waits < 5; waits++) await this.advance(1_500)
    const isHeld = (await this.ledger.holds()).some(({ id }) => id === call.id)
    call.state = isHeld ? "orphan" : "released"
  }

  /** Not awaited: a settlement waits for its batch, which needs the clock. */
  settle(call: Call, costNano: number): void {
    call.stop()
    const answered = call.providers[this.calls.size % Math.max(1, call.providers.length)]
    // A cost above the hold is not charged.
    call.costNano = Math.min(costNano, call.mostNano, answered?.mostNano ?? Infinity)
    const leased = call.isolate.leaseBook.call(call.id)
    call.leaseId = leased && !leased.isRegistered ? leased.lease.id : undefined
    call.state = "settling"
    call.usedTokens = costNano
    const settled = unsettledGeneration(this.draft(call.id, false), costNano)
    const tokens = { ...settled.tokens, completion: costNano }
    const at = answered && { provider: answered.slug, providerSlug: answered.slug }
    const generation = { ...settled, tokens, ...at, ending: "complete" as const }
    call.isolate.client.settle(generation).then(
      () => (call.state = "settled"),
      () => (call.state = "lost"),
    )
  }

  crash(index: number): void {
    const isolate = this.isolates[index]
    if (!isolate) return
    isolate.connection.isDead = true
    this.note()
    for (const lease of leasesOf(isolate.leaseBook)) this.lost.set(lease.id, lease.unknownNano)
    for (const call of this.calls.values()) {
      if (call.isolate === isolate && call.state !== "settled") call.state = "orphan"
    }
    this.isolates[index] = this.newIsolate()
  }

  /** The context of a call ends in an isolate that continues: none of its code runs any more. */
  kill(call: Call): void {
    this.note()
    call.timer.isDead = true
    call.state = "orphan"
  }

  /** The calls that the ledger knows: those with a separate hold, and registered ones of a lease. */
  note(): void {
    for (const call of this.calls.values()) {
      if (call.state !== "open" && call.state !== "settling") continue
      const leased = call.isolate.leaseBook.call(call.id)
      if (!call.mayBeLost && (!leased || leased.isRegistered)) call.isKnown = true
    }
  }

  records(): Promise<Settled[]> {
    return runInDurableObject(this.ledger, (_, { storage }) =>
      storage.sql
        .exec<{ record: string }>("SELECT record FROM outbox ORDER BY seq")
        .toArray()
        .map(({ record }) => JSON.parse(record) as Settled),
    )
  }

  counters(): Promise<Map<string, Counters>> {
    return runInDurableObject(this.ledger, (_, { storage }) => {
      const rows = storage.sql.exec<{ scope: string; value: string }>("SELECT scope, value FROM counters").toArray()
      return new Map(rows.map(({ scope, value }) => [scope, JSON.parse(value) as Counters]))
    })
  }

  held(): Promise<Map<string, number>> {
    return runInDurableObject(this.ledger, (_, { storage }) => {
      const held = new Map<string, number>()
      type Row = { amount: number; scopes: string; providers: string | null }
      const add = (scope: string, nano: number) => held.set(scope, (held.get(scope) ?? 0) + nano)
      for (const row of storage.sql.exec<Row>("SELECT amount, scopes, providers FROM holds")) {
        for (const scope of JSON.parse(row.scopes) as string[]) add(scope, row.amount)
        for (const { scope, verdict } of JSON.parse(row.providers ?? "[]") as ProviderVerdict[]) {
          if (verdict.ok) add(scope, verdict.grantedNano)
        }
      }
      return held
    })
  }

  /** Waits until messages in flight have arrived. */
  async arrive(): Promise<void> {
    for (let quiet = 0; quiet < 3;) {
      await scheduler.wait(0)
      quiet = this.isolates.some(({ connection }) => connection.inFlight > 0) ? 0 : quiet + 1
    }
  }

  async advance(ms: number): Promise<void> {
    const step = Math.max(10, Math.ceil(ms / 20))
    for (let left = ms; left > 0; left -= step) {
      vi.setSystemTime(Date.now() + Math.min(step, left))
      this.timer.fire()
      await this.arrive()
    }
  }

  /** Moves the clock of windows and expiry only: no timer of an isolate fires. */
  jump(ms: number): void {
    this.note()
    for (const call of this.calls.values()) {
      call.mayBeLost ||= !call.isKnown && call.state !== "settled"
      call.hasJumped = true
    }
    vi.setSystemTime(Date.now() + ms)
  }

  /** Invariants at every step. `grown`: nano-USD by which calls may exceed their bounds in this step. */
  async check(step: { held: boolean; grown: number }): Promise<void> {
    await this.arrive()
    const [records, counters, held] = [await this.records(), await this.counters(), await this.held()]
    const now = Date.now()
    expect(new Set(records.map(({ id }) => id)).size).toBe(records.length)
    for (const scope of [...SCOPES, ...CANDIDATES[4].map(providerScope)]) {
      const counter = counters.get(scope)
      const total = sum(records, scope)
      expect(counter?.total.spent ?? 0).toBe(total)
      for (const interval of ["daily", "weekly", "monthly"] as const) {
        const start = counter?.[interval].start ?? windowStart(interval, now)
        const inWindow = sum(
          records.filter(({ settledAt }) => settledAt >= start),
          scope,
        )
        expect(counter?.[interval].spent ?? 0).toBe(inWindow)
      }
    }
    const balance = await this.ledger.balance()
    expect(balance.creditedNano).toBe(this.credited)
    expect(balance.spentNano).toBe(sum(records))
    expect(balance.heldNano).toBe(held.get("account") ?? 0)

    const limits: Limit[] = [
      { scope: "account", limitNano: this.credited, interval: null, includeByok: false },
      ...this.limits(),
      ...this.providerLimits(),
    ]
    for (const { scope, limitNano, interval } of limits) {
      const start = interval === null ? 0 : windowStart(interval, now)
      const spent = sum(
        records.filter(({ settledAt }) => settledAt >= start),
        scope,
      )
      const committed = spent + (held.get(scope) ?? 0)
      const before = this.before.get(scope) ?? 0
      // A hold fits under the limit in force; only a cost above its bound can add more.
      expect(committed).toBeLessThanOrEqual(step.held ? Math.max(limitNano, before) : before + step.grown)
      this.before.set(scope, committed)
    }
    this.checkRates(now)
    await this.checkLeases(new Map(records.map(({ id, costNano }) => [id, costNano])))
  }

  /** For any number of isolates that admit calls from it, no rate limit is exceeded. */
  checkRates(now: number): void {
    const admitted = [...this.calls.values()].filter(({ wasAdmitted }) => wasAdmitted)
    const ofMinute = admitted.filter(({ minute }) => minute === minuteOf(now))
    const running = admitted.filter(({ state, hasJumped }) => state === "open" && !hasJumped)
    // A call that used more than it was counted with reduces what later calls may use.
    const tokens = ofMinute.reduce((all, call) => all + Math.min(call.tokens, call.usedTokens), 0)
    for (const { requestsPerMinute, tokensPerMinute, concurrentRequests } of this.rates) {
      expect(ofMinute.length).toBeLessThanOrEqual(requestsPerMinute ?? Infinity)
      expect(tokens).toBeLessThanOrEqual(tokensPerMinute ?? Infinity)
      expect(running.length).toBeLessThanOrEqual(concurrentRequests ?? Infinity)
    }
  }

  /** What an isolate admits is held at the ledger by its leases or by separate holds. */
  async checkLeases(charged: ReadonlyMap<string, number>): Promise<void> {
    const rows = await this.ledger.holds()
    const amountOf = new Map(rows.map(({ id, amountNano }) => [id, amountNano]))
    const estimateOf = new Map(rows.map(({ id, estimateNano }) => [id, estimateNano]))
    for (const { leaseBook } of this.isolates) {
      for (const lease of leasesOf(leaseBook)) {
        if (!isUsable(lease, Date.now())) continue
        const registered = [...lease.open.keys()].reduce((all, id) => all + (amountOf.get(id) ?? 0), 0)
        // Charged, but its isolate got no response.
        const answerLost = [...lease.open.keys()].reduce((all, id) => all + (charged.get(id) ?? 0), 0)
        const covered = (amountOf.get(lease.id) ?? 0) + registered + answerLost
        expect(covered).toBeGreaterThanOrEqual(lease.slice.leftNano)
        const room = lease.slice.leftNano - lease.slice.openNano
        expect(room).toBeGreaterThanOrEqual(Math.min(0, lease.slice.leftNano))
        // The ledger's charge if the isolate crashed now.
        const unknown = [...lease.open.values()].filter(({ isRegistered }) => !isRegistered)
        expect(lease.unknownNano).toBe(unknown.reduce((all, call) => all + call.estimateNano, 0))
        const uncharged = unknown.filter(({ draft }) => !charged.has(draft.id))
        const owed = uncharged.reduce((all, call) => all + call.estimateNano, 0)
        expect(estimateOf.get(lease.id) ?? 0).toBeGreaterThanOrEqual(owed)
      }
    }
  }

  async expireAll(): Promise<void> {
    this.jump(2 * TTL_MS)
    await runDurableObjectAlarm(this.ledger)
  }
}

function leasesOf(leaseBook: Leases) {
  return [...leaseBook.all()]
}

/** The sum of the records that count in a scope: those of a provider, or all. */
const sum = (records: readonly Settled[], scope = "account") => {
  const slug = providerOf(scope)
  const costAt = ({ costNano, providerSlug, atProviders }: Settled) =>
    slug === undefined || providerSlug === slug ? costNano : (atProviders?.[slug] ?? 0)
  return records.reduce((all, record) => all + costAt(record), 0)
}

/** The remaining candidates, with the most that each may cost: the hold if there is no budget. */
function grantsOf(
  slugs: readonly string[],
  limited: NonNullable<HoldRequest["providers"]>["limited"] = [],
  granted: Extract<HoldVerdict, { ok: true }>,
): Call["providers"] {
  return slugs.flatMap((slug) => {
    const verdict = granted.providers?.[limited.findIndex(({ provider }) => provider === slug)]?.verdict
    if (verdict && !verdict.ok) return []
    return [{ slug, mostNano: verdict?.grantedNano ?? granted.grantedNano }]
  })
}

type Model = { calls: number }
type Command = fc.AsyncCommand<Model, Simulation>

function command(
  name: string,
  run: (simulation: Simulation) => Promise<Partial<Parameters<Simulation["check"]>[0]> | undefined>,
): Command {
  return {
    check: () => true,
    run: async (_, simulation) => {
      const step = await run(simulation)
      await simulation.check({ held: step?.held ?? false, grown: step?.grown ?? 0 })
    },
    toString: () => name,
  }
}

const isolate = fc.integer({ min: 0, max: 1 })
const pick = fc.nat()
const chosen = (simulation: Simulation, at: number, state: Call["state"]) => {
  const calls = [...simulation.calls.values()].filter((call) => call.state === state)
  return calls[at % Math.max(1, calls.length)]
}

const commands = [
  fc.tuple(isolate, fc.integer({ min: 0, max: 300 }), fc.boolean()).map(([at, most, streamed]) =>
    command(`open ${most} in ${at}`, async (simulation) => {
      const one = simulation.isolates[at]
      if (one) await simulation.open(one, most, streamed)
      return { held: true }
    }),
  ),
  fc.tuple(isolate, fc.integer({ min: 5_000, max: 60_000 })).map(([at, most]) =>
    command(`open ${most}, near the limits, in ${at}`, async (simulation) => {
      const one = simulation.isolates[at]
      if (one) await simulation.open(one, most, false)
      return { held: true }
    }),
  ),
  fc.tuple(isolate, fc.integer({ min: 2, max: 12 }), fc.integer({ min: 1, max: 100 })).map(([at, many, most]) =>
    command(`open ${many} of ${most} at once in ${at}`, async (simulation) => {
      const one = simulation.isolates[at]
      if (one) await Promise.all(Array.from({ length: many }, () => simulation.open(one, most, false)))
      return { held: true }
    }),
  ),
  fc.tuple(isolate, fc.integer({ min: 0, max: 20_000 })).map(([at, most]) =>
    command(`hold ${most} in ${at} and release it`, async (simulation) => {
      const one = simulation.isolates[at]
      if (one) await simulation.holdAndRelease(one, most)
      return { held: true }
    }),
  ),
  fc.tuple(pick, fc.double({ min: 0, max: 1, noNaN: true })).map(([at, share]) =>
    command(`settle at ${share.toFixed(2)}`, async (simulation) => {
      const call = chosen(simulation, at, "open")
      if (call) simulation.settle(call, Math.floor(call.mostNano * share))
      await simulation.advance(BATCH_MS)
      return undefined
    }),
  ),
  pick.map((at) =>
    command("settle above the bound", async (simulation) => {
      const call = chosen(simulation, at, "open")
      if (call) simulation.settle(call, call.mostNano + 7)
      await simulation.advance(BATCH_MS)
      return undefined
    }),
  ),
  isolate.map((at) =>
    command(`abort: all of ${at} settle at once`, async (simulation) => {
      for (const call of simulation.calls.values()) {
        if (call.state === "open" && call.isolate === simulation.isolates[at]) simulation.settle(call, 0)
      }
      await simulation.advance(BATCH_MS)
      return undefined
    }),
  ),
  isolate.map((at) =>
    command(`crash ${at}`, async (simulation) => {
      simulation.crash(at)
      return undefined
    }),
  ),
  pick.map((at) =>
    command("the context of a call ends", async (simulation) => {
      const call = chosen(simulation, at, "open")
      if (call) simulation.kill(call)
      return undefined
    }),
  ),
  fc
    .tuple(isolate, fc.array(fc.constantFrom<Fault>("request lost", "answer lost"), { minLength: 1, maxLength: 3 }))
    .map(([at, faults]) =>
      command(`${faults.join(", ")} of ${at}`, async (simulation) => {
        simulation.isolates[at]?.connection.next.push(...faults)
        return undefined
      }),
    ),
  fc.constant(
    command("the ledger restarts", async (simulation) => {
      await evictDurableObject(simulation.ledger)
      return undefined
    }),
  ),
  fc.constantFrom(10, 60, 1_500, 2_500, 6_000, 40_000).map((ms) =>
    command(`${ms} ms pass`, async (simulation) => {
      await simulation.advance(ms)
      return undefined
    }),
  ),
  fc.constantFrom<ResetInterval>("daily", "weekly", "monthly").map((interval) =>
    command(`the next ${interval} window`, async (simulation) => {
      const days = { daily: 1, weekly: 7, monthly: 31 }[interval]
      simulation.jump(days * DAY_MS - (Date.now() % DAY_MS))
      await runDurableObjectAlarm(simulation.ledger)
      return { grown: Infinity }
    }),
  ),
  fc.constant(
    command("the alarm, twice", async (simulation) => {
      await runDurableObjectAlarm(simulation.ledger)
      await runInDurableObject(simulation.ledger, async (ledger) => (ledger as unknown as Ledger).alarm())
      return undefined
    }),
  ),
  fc.integer({ min: -20_000, max: 40_000 }).map((nano) =>
    command(`credit ${nano}`, async (simulation) => {
      await simulation.credit(nano)
      return undefined
    }),
  ),
  fc
    .record({
      nano: fc.integer({ min: 0, max: 80_000 }),
      interval: fc.constantFrom<ResetInterval | null>(null, "daily", "weekly", "monthly"),
    })
    .map((limit) =>
      command(`the key's limit is ${limit.nano} ${limit.interval}`, async (simulation) => {
        simulation.keyLimit = limit
        return { grown: Infinity }
      }),
    ),
  fc.integer({ min: 0, max: 80_000 }).map((nano) =>
    command(`the budget is ${nano}`, async (simulation) => {
      simulation.budgetNano = nano
      return undefined
    }),
  ),
  fc.constant(
    command("records are delivered again", async (simulation) => {
      await runInDurableObject(simulation.ledger, (_, { storage }) => {
        storage.sql.exec("UPDATE delivery SET value = 0")
      })
      await evictDurableObject(simulation.ledger)
      await runDurableObjectAlarm(simulation.ledger)
      return undefined
    }),
  ),
]

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() })
})
afterEach(() => {
  vi.useRealTimers()
})

/** Ends all calls; then the records in the database must equal the ledger's. */
async function settleAll(simulation: Simulation): Promise<void> {
  for (const { connection } of simulation.isolates) connection.next.length = 0
  for (const call of simulation.calls.values()) if (call.state === "open") simulation.settle(call, call.estimateNano)
  await simulation.advance(20_000)
  await simulation.expireAll()
  await runDurableObjectAlarm(simulation.ledger)
  expect(await simulation.ledger.holds()).toEqual([])
  const records = await simulation.records()
  const { results } = await env.DB.prepare(
    "SELECT id, cost_nano FROM generations WHERE organization_id = ? ORDER BY id",
  )
    .bind(simulation.organizationId)
    .all<{ id: string; cost_nano: number }>()
  expect(results).toEqual(
    records.map(({ id, costNano }) => ({ id, cost_nano: costNano })).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  )
  const charged = new Map(records.map((record) => [record.id, record]))
  for (const [lease, leastNano] of simulation.lost) {
    expect(charged.get(lease)?.costNano ?? 0).toBeGreaterThanOrEqual(leastNano)
    if (leastNano > 0) expect(charged.get(lease)?.ending).toBe("unattributed")
  }
  for (const call of simulation.calls.values()) {
    const record = charged.get(call.id)
    if (call.state === "released") expect(record, `${call.id} was released`).toBeUndefined()
    const isDue = (call.isKnown && call.state !== "released") || (call.state === "settled" && !call.mayBeLost)
    if (isDue) expect(record, `${call.id} was ${call.state}`).toBeDefined()
    // A live isolate loses no charge: of the call, or of the lease that covered it.
    const isOwed = ["settling", "lost"].includes(call.state) && call.costNano > 0 && !call.mayBeLost
    if (isOwed) expect(record ?? charged.get(call.leaseId ?? ""), `${call.id} was ${call.state}`).toBeDefined()
    // Expired calls are charged their estimate, settled ones their cost.
    if (record?.ending === "complete") expect(record.costNano).toBe(call.costNano)
    const hasCost = call.wasAdmitted && call.mostNano > 0
    if (record?.ending === "unsettled" && hasCost) expect(record.costNano).toBeGreaterThan(0)
  }
}

test("no schedule overspends, charges twice, loses a charge or lets a balance drift", async () => {
  await fc.assert(
    fc.asyncProperty(fc.commands(commands, { maxCommands: 45, size: "max" }), async (schedule) => {
      const simulation = new Simulation()
      await simulation.credit(80_000)
      await fc.asyncModelRun(() => ({ model: { calls: 0 }, real: simulation }), schedule)
      await settleAll(simulation)
    }),
    { numRuns: runs(0.4) },
  )
})

const providerBudget: fc.Arbitrary<Budget> = fc.record({
  nano: fc.oneof(fc.integer({ min: 0, max: 900 }), fc.integer({ min: 0, max: 60_000 })),
  interval: fc.constantFrom<ResetInterval | null>(null, "daily", "weekly", "monthly"),
})

const providerCommands = [
  ...commands,
  fc.tuple(fc.constantFrom("a", "b"), providerBudget).map(([slug, budget]) =>
    command(`the budget of ${slug} is ${budget.nano} ${budget.interval}`, async (simulation) => {
      simulation.providerBudgets.set(slug, budget)
      return { grown: Infinity }
    }),
  ),
]

test("no schedule exceeds the budget of a provider, and each counter is the sum of its calls", async () => {
  await fc.assert(
    fc.asyncProperty(
      providerBudget,
      providerBudget,
      fc.commands(providerCommands, { maxCommands: 45, size: "max" }),
      async (a, b, schedule) => {
        const simulation = new Simulation()
        simulation.providerBudgets.set("a", a).set("b", b)
        await simulation.credit(80_000)
        await fc.asyncModelRun(() => ({ model: { calls: 0 }, real: simulation }), schedule)
        await settleAll(simulation)
      },
    ),
    { numRuns: runs(0.6) },
  )
})

const some = (...values: number[]) => fc.constantFrom(null, ...values)
/** Few enough to be reached by calls, or enough that isolates lease from them. */
const rateLimits: fc.Arbitrary<RateLimits> = fc.record({
  requestsPerMinute: some(1, 3, 20, 140, 1_000),
  tokensPerMinute: some(300, 2_000, 100_000),
  concurrentRequests: some(1, 2, 10, 140, 1_000),
})

test("no schedule exceeds a rate limit of a key or its workspace", async () => {
  await fc.assert(
    fc.asyncProperty(
      rateLimits,
      rateLimits,
      fc.commands(commands, { maxCommands: 45, size: "max" }),
      async (key, workspace, schedule) => {
        const simulation = new Simulation()
        simulation.rates = [
          { ...key, scope: "key:k" },
          { ...workspace, scope: SCOPES[2] },
        ]
        await simulation.credit(80_000)
        await fc.asyncModelRun(() => ({ model: { calls: 0 }, real: simulation }), schedule)
        await settleAll(simulation)
      },
    ),
    { numRuns: runs(0.4) },
  )
})

/** Enough calls of two isolates to use up their leases. */
const crowds = [
  fc.tuple(isolate, fc.integer({ min: 20, max: 90 })).map(([at, many]) =>
    command(`open ${many} in ${at}`, async (simulation) => {
      const one = simulation.isolates[at]
      if (one) await Promise.all(Array.from({ length: many }, () => simulation.open(one, 2, false)))
      return { held: true }
    }),
  ),
  fc.tuple(isolate, fc.constantFrom(0, 1, 2, 9)).map(([at, tokens]) =>
    command(`half of ${at} settles with ${tokens} tokens`, async (simulation) => {
      const open = [...simulation.calls.values()].filter((call) => call.state === "open")
      const matching = open.filter((call) => call.isolate === simulation.isolates[at])
      for (const call of matching.slice(0, Math.ceil(matching.length / 2))) simulation.settle(call, tokens)
      await simulation.advance(40)
      return { grown: Infinity }
    }),
  ),
  fc.constantFrom(100, 2_500, 20_000).map((ms) =>
    command(`${ms} ms pass`, async (simulation) => {
      await simulation.advance(ms)
      return undefined
    }),
  ),
  isolate.map((at) =>
    command(`answer lost of ${at}`, async (simulation) => {
      simulation.isolates[at]?.connection.next.push("answer lost")
      return undefined
    }),
  ),
  isolate.map((at) =>
    command(`crash ${at}`, async (simulation) => {
      simulation.crash(at)
      return undefined
    }),
  ),
  fc.constant(
    command("the ledger restarts", async (simulation) => {
      await evictDurableObject(simulation.ledger)
      return undefined
    }),
  ),
]

test("many calls that lease from a rate limit do not exceed it", async () => {
  const limits = fc.constantFrom<RateLimits>(
    { ...NO_RATES, requestsPerMinute: 200 },
    { ...NO_RATES, tokensPerMinute: 400 },
    { ...NO_RATES, concurrentRequests: 160 },
    { requestsPerMinute: 260, tokensPerMinute: 500, concurrentRequests: 200 },
  )
  await fc.assert(
    fc.asyncProperty(limits, fc.commands(crowds, { maxCommands: 25, size: "max" }), async (key, schedule) => {
      const simulation = new Simulation()
      simulation.rates = [{ ...key, scope: "key:k" }]
      await simulation.credit(80_000)
      await fc.asyncModelRun(() => ({ model: { calls: 0 }, real: simulation }), schedule)
      await settleAll(simulation)
    }),
    { numRuns: runs(0.4) },
  )
})

test("a call whose hold expired under a live lease takes its maximum cost from the lease", async () => {
  const simulation = new Simulation()
  const [isolate] = simulation.isolates
  if (!isolate) throw new Error("There is no isolate.")
  const nothing = { held: true, grown: 0 }
  await simulation.credit(80_000)
  await simulation.open(isolate, 300, false)
  const [long] = [...simulation.calls.values()]
  if (!long) throw new Error("There is no call.")
  await simulation.advance(3_000)
  // Other calls keep the lease alive; the call's own hold is not renewed.
  long.stop()
  for (const ms of [50_000, 50_000, 25_000]) {
    await simulation.advance(ms)
    await simulation.open(isolate, 300, false)
    const short = [...simulation.calls.values()].at(-1)
    if (short) simulation.settle(short, 10)
    await simulation.advance(BATCH_MS)
  }
  await runDurableObjectAlarm(simulation.ledger)
  expect((await simulation.records()).find(({ id }) => id === long.id)?.ending).toBe("unsettled")
  simulation.settle(long, 10)
  await simulation.advance(BATCH_MS)
  await simulation.check(nothing)
})

/** The isolate continues with long calls, or only with short ones. */
const OTHER_CALLS = [
  ["long", 1_000],
  ["long", 10_000],
  ["short", 1_000],
  ["short", 10_000],
] as const

test.each(sampled(OTHER_CALLS, 3))(
  "a call whose context ended is charged its estimate while %s calls continue (%i ms)",
  async (others, ms) => {
    const simulation = new Simulation()
    const [isolate] = simulation.isolates
    if (!isolate) throw new Error("There is no isolate.")
    await simulation.credit(80_000)
    await simulation.open(isolate, 300, false)
    // Under the lease that was granted with the first call.
    await simulation.open(isolate, 300, false)
    const [first, dead] = [...simulation.calls.values()]
    if (!first || !dead) throw new Error("There is no call.")
    expect(isolate.leaseBook.call(dead.id)?.isRegistered).toBe(false)
    if (others === "short") simulation.settle(first, 10)
    await simulation.advance(ms)
    simulation.kill(dead)
    for (let second = 0; second < 200; second += 4) {
      await simulation.advance(4_000)
      if (others === "long") continue
      await simulation.open(isolate, 300, false)
      const short = [...simulation.calls.values()].at(-1)
      if (short) simulation.settle(short, 10)
    }
    await runDurableObjectAlarm(simulation.ledger)
    const record = (await simulation.records()).find(({ id }) => id === dead.id)
    expect(record).toMatchObject({ ending: "unsettled", costNano: dead.estimateNano })
    expect(isolate.leaseBook.openBefore(Infinity).map(({ draft }) => draft.id)).not.toContain(dead.id)
    await simulation.check({ held: true, grown: 0 })
  },
)

/** How many calls a rate limit still admits with separate holds. */
async function admitted(simulation: Simulation): Promise<number> {
  const isolate = simulation.newIsolate()
  const client = new LedgerClient(() => isolate.connection.of(simulation.ledger), newShared(), {
    timer: simulation.timer,
  })
  for (let count = 0; ; count++) {
    const verdict = await simulation.open({ ...isolate, client }, 2, false)
    if (!verdict?.ok) return count
  }
}

test("a leased call that is registered later keeps its slot, so that no other call loses one", async () => {
  const simulation = new Simulation()
  const [leasing] = simulation.isolates
  if (!leasing) throw new Error("There is no isolate.")
  simulation.rates = [{ ...NO_RATES, scope: "key:k", concurrentRequests: 160 }]
  await simulation.credit(80_000)
  await simulation.open(leasing, 2, false)
  const [lease] = leasesOf(leasing.leaseBook)
  const slots = 1 + (lease?.rates?.slots ?? 0)
  expect(slots).toBe(5)
  await simulation.advance(3_000)
  expect([...simulation.calls.keys()].map((id) => leasing.leaseBook.call(id)?.isRegistered)).toEqual([true])
  expect(await admitted(simulation)).toBe(160 - slots)
})

test("a returned lease leaves only the requests of its calls counted", async () => {
  const simulation = new Simulation()
  const [leasing] = simulation.isolates
  if (!leasing) throw new Error("There is no isolate.")
  vi.setSystemTime(minuteOf(Date.now()) + 60_000)
  simulation.rates = [{ ...NO_RATES, scope: "key:k", requestsPerMinute: 200 }]
  await simulation.credit(80_000)
  await simulation.open(leasing, 2, false)
  for (const call of simulation.calls.values()) simulation.settle(call, 1)
  await simulation.advance(5_000)
  expect(await simulation.ledger.holds()).toEqual([])
  expect(await admitted(simulation)).toBe(199)
})

test.each([
  ["that cost something", 300, 100],
  ["that cost nothing", 0, 0],
])("steady calls %s are sent to the ledger in batches of a tenth of a second", async (_, most, cost) => {
  const simulation = new Simulation()
  const [isolate] = simulation.isolates
  if (!isolate) throw new Error("There is no isolate.")
  await simulation.credit(80_000_000)
  simulation.keyLimit = { nano: 80_000_000, interval: null }
  simulation.budgetNano = 80_000_000
  const rounds = 30
  const round = async () => {
    const before = new Set(simulation.calls.keys())
    await Promise.all(Array.from({ length: 16 }, () => simulation.open(isolate, most, false)))
    for (const call of simulation.calls.values()) if (!before.has(call.id)) simulation.settle(call, cost)
    await simulation.advance(10)
  }
  for (let at = 0; at < 20; at++) await round()
  const before = isolate.connection.sent
  for (let at = 0; at < rounds; at++) await round()
  // 480 calls, at most 100 in a batch.
  expect(isolate.connection.sent - before).toBeLessThanOrEqual(6)
  await simulation.advance(BATCH_MS)
  await simulation.check({ held: true, grown: 0 })
})

test("long calls are reported in batches of half a second", async () => {
  const simulation = new Simulation()
  const [isolate] = simulation.isolates
  if (!isolate) throw new Error("There is no isolate.")
  await simulation.credit(80_000_000)
  simulation.keyLimit = { nano: 80_000_000, interval: null }
  simulation.budgetNano = 80_000_000
  // Twenty calls a second that do not end: the first are registered after two seconds.
  const begin = async (calls: number) => {
    for (let at = 0; at < calls; at++) {
      await simulation.open(isolate, 300, true)
      await simulation.advance(50)
    }
  }
  await begin(40)
  const before = isolate.connection.sent
  await begin(80)
  expect(isolate.connection.sent - before).toBeLessThanOrEqual(30)
  await simulation.advance(10_000)
  const rows = await simulation.ledger.holds()
  expect(rows.filter(({ isLease }) => !isLease)).toHaveLength(120)
  // Each was renewed in time.
  for (const { expiresAt } of rows) expect(expiresAt - Date.now()).toBeGreaterThan(TTL_MS - 11_000)
  await simulation.check({ held: true, grown: 0 })
})

test("a call that could not be settled takes its maximum cost from its lease", async () => {
  const simulation = new Simulation()
  const [isolate] = simulation.isolates
  if (!isolate) throw new Error("There is no isolate.")
  await simulation.credit(80_000)
  await simulation.open(isolate, 300, false)
  const [call] = [...simulation.calls.values()]
  if (!call) throw new Error("There is no call.")
  isolate.connection.next.push("answer lost", "answer lost", "answer lost")
  simulation.settle(call, 300)
  await simulation.advance(BATCH_MS)
  await simulation.check({ held: true, grown: 0 })
  await simulation.advance(5_000)
  await simulation.check({ held: true, grown: 0 })
  expect(await simulation.ledger.holds()).toEqual([])
})

test.each([2, 7, 11])(
  "a call whose settlement is lost %i times is charged by the time its lease is returned",
  async (times) => {
    const simulation = new Simulation()
    const [isolate] = simulation.isolates
    if (!isolate) throw new Error("There is no isolate.")
    await simulation.credit(80_000)
    await simulation.open(isolate, 300, false)
    const [lost] = [...simulation.calls.values()]
    if (!lost) throw new Error("There is no call.")
    simulation.settle(lost, 200)
    isolate.connection.next.push(...Array.from({ length: times }, (): Fault => "request lost"))
    await simulation.advance(1_000)
    // The lease continues, and is returned in the end.
    await simulation.open(isolate, 300, false)
    const [, other] = [...simulation.calls.values()]
    if (other) simulation.settle(other, 100)
    await simulation.advance(20_000)
    await settleAll(simulation)
    const charged = (await simulation.records()).reduce((all, { costNano }) => all + costNano, 0)
    expect(charged).toBeGreaterThanOrEqual(200)
  },
)

test("a hold whose response was lost costs nothing, nor does the lease granted with it", async () => {
  const simulation = new Simulation()
  await simulation.credit(80_000)
  for (const most of [300, 40_000]) {
    const isolate = simulation.newIsolate()
    isolate.connection.next.push("answer lost")
    expect(await simulation.open(isolate, most, false)).toBeUndefined()
    await simulation.advance(3_000)
    await runDurableObjectAlarm(simulation.ledger)
    expect(await simulation.ledger.holds()).toEqual([])
  }
  await settleAll(simulation)
  expect((await simulation.ledger.balance()).spentNano).toBe(0)
})

test("a hold that is repeated after a lost response is held once", async () => {
  const simulation = new Simulation()
  const [isolate] = simulation.isolates
  if (!isolate) throw new Error("There is no isolate.")
  await simulation.credit(80_000)
  await simulation.open(isolate, 10, false)
  isolate.connection.next.push("answer lost")
  expect(await simulation.open(isolate, 40_000, false)).toMatchObject({ ok: true })
  const holds = await simulation.ledger.holds()
  expect(holds.filter(({ isLease }) => !isLease).map(({ amountNano }) => amountNano)).toEqual([40_000])
  await settleAll(simulation)
})

test("a lease whose grant was lost and expired is requested with a new id", async () => {
  const simulation = new Simulation()
  const [isolate] = simulation.isolates
  if (!isolate) throw new Error("There is no isolate.")
  await simulation.credit(80_000)
  isolate.connection.next.push("answer lost")
  await Promise.all([simulation.open(isolate, 1, false), simulation.open(isolate, 1, false)])
  await simulation.expireAll()
  await simulation.open(isolate, 13, false)
  const [lease] = leasesOf(isolate.leaseBook)
  expect(lease?.unknownNano).toBe(5)
  simulation.crash(0)
  await settleAll(simulation)
})

test("the ledger grants no lease with an id that it has charged", async () => {
  const simulation = new Simulation()
  await simulation.credit(80_000)
  const request = (id: string): HoldRequest => ({
    draft: simulation.draft(`gen-${crypto.randomUUID()}`, false),
    wanted: { leastNano: 9, mostNano: 9 },
    chargesAccount: true,
    limits: simulation.limits(),
    estimateNano: 3,
    ttlMs: TTL_MS,
    lease: { id, wantNano: 100, isHeld: false, estimateNano: 3, sequence: 1 },
  })
  const id = newLeaseId()
  expect((await simulation.ledger.hold(request(id))).verdict).toMatchObject({
    ok: true,
    leasedNano: expect.any(Number),
  })
  await simulation.expireAll()
  const again = (await simulation.ledger.hold(request(id))).verdict
  expect(again).toMatchObject({ ok: true })
  expect(again).not.toHaveProperty("leasedNano")
})

describe("the estimate that an isolate declares", () => {
  /** An isolate with a lease and `many` open calls of it, whose ids the ledger does not know. */
  async function busy(many: number) {
    const simulation = new Simulation()
    const [isolate] = simulation.isolates
    if (!isolate) throw new Error("There is no isolate.")
    await simulation.credit(10_000_000)
    simulation.keyLimit = { nano: 10_000_000, interval: null }
    simulation.budgetNano = 10_000_000
    // One by one: each call that the lease does not cover raises the estimate.
    for (let at = 0; at < many; at++) {
      await simulation.open(isolate, 300, false)
      await simulation.arrive()
    }
    const [lease] = leasesOf(isolate.leaseBook)
    if (!lease) throw new Error("There is no lease.")
    return { simulation, isolate, lease }
  }

  test("covers the open calls when some of many are settled at once", async () => {
    const { simulation, lease } = await busy(40)
    expect(lease.unknownNano).toBeGreaterThan(20 * 100)
    const calls = [...simulation.calls.values()].filter(({ id }) => lease.open.has(id))
    for (const call of calls.slice(0, Math.floor(calls.length * 0.45))) simulation.settle(call, 10)
    await simulation.advance(40)
    await simulation.check({ held: true, grown: 0 })
  })

  test("is not in force until the ledger has it: a lost report admits no calls", async () => {
    const { simulation, isolate, lease } = await busy(3)
    const inForce = lease.declarations.inForceNano
    isolate.connection.next.push("request lost")
    for (let at = 0; at < 12; at++) {
      await simulation.open(isolate, 300, false)
      await simulation.arrive()
    }
    expect(lease.unknownNano).toBeLessThanOrEqual(Math.max(inForce, lease.declarations.inForceNano))
    await simulation.check({ held: true, grown: 0 })
  })

  test("is not replaced by an older report that arrives late", async () => {
    const { simulation, lease } = await busy(3)
    const report = (estimateNano: number, sequence: number) =>
      simulation.ledger.report({
        ...NOTHING_TO_REPORT,
        leases: [{ id: lease.id, estimateNano, sequence, ttlMs: TTL_MS, isReturned: false }],
      })
    const estimate = async () => (await simulation.ledger.holds()).find(({ id }) => id === lease.id)?.estimateNano
    await report(900, 1_002)
    await report(5, 1_001)
    expect(await estimate()).toBe(900)
    await report(7, 1_003)
    expect(await estimate()).toBe(7)
  })
})
