import { LedgerClient } from "../../src/ledger/client.ts"
import { type GenerationDraft, unsettledGeneration } from "../../src/ledger/generation.ts"
import type { LedgerRpc } from "../../src/ledger/protocol.ts"
import { newShared } from "../../src/ledger/shared.ts"
import { Random } from "../fuzz/random.ts"
import { newTestDraft } from "../support/draft.ts"
import { Clock } from "./clock.ts"
import { type Load, SimulatedLedger } from "./ledger.ts"

const HELP = `npm run simulate:scale

How many requests the one ledger of an organization gets, at 1,000 to 100,000 calls a second over 300 locations. Isolates
run the real code of leases and settlements (src/ledger) by a simulated clock. A few isolates represent all of them:
far from every limit they are independent.`

const LOCATIONS = 300
/** Simulated for each figure, after a warm-up in which leases are granted and their size settles. */
const WARM_UP_MS = 15_000
const MEASURED_MS = 30_000
/** A round trip between an isolate and the ledger. */
const TRIP_MS = 60
const SAMPLED_CALLS = 120_000

/** Nano-USD: the most that a call may cost, and its cost. */
const MOST = 30_000_000
const COST = 3_000_000
/** Far above the sum of the leases. */
const BALANCE = 1e15

/** Seconds of calls: most are short, and one in ten is a long stream. */
const DURATIONS = [
  { share: 0.6, seconds: 0.8 },
  { share: 0.3, seconds: 4 },
  { share: 0.1, seconds: 20 },
]

export type Outcome = { perSecond: Record<keyof Load, number>; requests: number; isolates: number; callsEach: number }

const total = ({ holds, reports }: Load) => holds + reports

/** The calls are spread evenly over all `isolates`. */
export async function simulate(callsPerSecond: number, isolates: number): Promise<Outcome> {
  const each = callsPerSecond / isolates
  const seconds = (WARM_UP_MS + MEASURED_MS) / 1_000
  const sampled = Math.max(1, Math.min(isolates, 24, Math.floor(SAMPLED_CALLS / (each * seconds))))
  const clock = new Clock()
  const restore = clock.install()
  try {
    const ledger = new SimulatedLedger(BALANCE)
    const random = new Random(22)
    for (let at = 0; at < sampled; at++) startIsolate({ clock, ledger, random, perSecond: each })
    const begin = clock.now
    await clock.runUntil(begin + WARM_UP_MS)
    const before = { ...ledger.load }
    await clock.runUntil(begin + WARM_UP_MS + MEASURED_MS)
    const scale = isolates / sampled / (MEASURED_MS / 1_000)
    const names = Object.keys(before) as (keyof Load)[]
    const rates = names.map((name) => [name, (ledger.load[name] - before[name]) * scale] as const)
    const perSecond = Object.fromEntries(rates) as Record<keyof Load, number>
    return { perSecond, requests: total(perSecond), isolates, callsEach: each }
  } finally {
    restore()
  }
}

type Isolate = { clock: Clock; ledger: SimulatedLedger; random: Random; perSecond: number }

/** Calls begin at random times, and each does what every call does: hold, track, settle. */
function startIsolate({ clock, ledger, random, perSecond }: Isolate): void {
  const shared = newShared()
  const stub = overTheNetwork(ledger, clock)
  const begin = () => {
    clock.after((-Math.log(1 - random.next()) / perSecond) * 1_000, begin)
    const client = new LedgerClient(() => stub, shared, { waitUntil: () => undefined, timer: clock })
    void oneCall(client, clock, random)
  }
  clock.after(random.next() * (1_000 / perSecond), begin)
}

async function oneCall(client: LedgerClient, clock: Clock, random: Random): Promise<void> {
  const id = `gen-${random.uuid()}`
  const draft: GenerationDraft = newTestDraft({ id, organizationId: "o", workspaceId: "w", keyHash: "k" })
  const verdict = await client.hold({
    draft,
    wanted: { leastNano: MOST, mostNano: MOST },
    chargesAccount: true,
    limits: NO_LIMITS,
    estimateNano: COST,
    ttlMs: 120_000,
  })
  if (!verdict.ok) throw new Error("The balance is too small for this simulation.")
  const stop = client.track(id, { estimate: () => COST, ttlMs: 120_000, heldAt: clock.now })
  await clock.wait(durationOf(random) * 1_000)
  stop()
  await client.settle({ ...unsettledGeneration(draft, COST), ending: "complete" })
}

/** The same list for every call, as for the calls of one key. */
const NO_LIMITS: never[] = []

function durationOf(random: Random): number {
  let left = random.next()
  for (const { share, seconds } of DURATIONS) {
    left -= share
    if (left <= 0) return seconds * (0.5 + random.next())
  }
  return DURATIONS[0]?.seconds ?? 1
}

function overTheNetwork(ledger: SimulatedLedger, clock: Clock): DurableObjectStub<LedgerRpc> {
  const trip = async <T>(call: () => T): Promise<T> => {
    await clock.wait(TRIP_MS / 2)
    const answer = call()
    await clock.wait(TRIP_MS / 2)
    return answer
  }
  const stub = {
    hold: (...given: Parameters<SimulatedLedger["hold"]>) => trip(() => ledger.hold(...given)),
    report: (...given: Parameters<SimulatedLedger["report"]>) => trip(() => ledger.report(...given)),
  }
  return stub as unknown as DurableObjectStub<LedgerRpc>
}

async function main(): Promise<void> {
  console.log(
    "calls/s  isolates  calls/s each  requests/s  holds  reports  settlements  registrations  renewals  per request",
  )
  for (const callsPerSecond of [1_000, 5_000, 10_000, 100_000]) {
    for (const perLocation of [1, 4, 16]) {
      const { perSecond, requests, isolates, callsEach } = await simulate(callsPerSecond, LOCATIONS * perLocation)
      const cells = [
        String(callsPerSecond).padStart(7),
        String(isolates).padStart(8),
        callsEach.toFixed(1).padStart(12),
        requests.toFixed(0).padStart(10),
        perSecond.holds.toFixed(0).padStart(5),
        perSecond.reports.toFixed(0).padStart(7),
        perSecond.settlements.toFixed(0).padStart(11),
        perSecond.registrations.toFixed(0).padStart(13),
        perSecond.renewals.toFixed(0).padStart(8),
        (perSecond.settlements / requests).toFixed(1).padStart(11),
      ]
      console.log(cells.join("  "))
    }
  }
}

if (import.meta.main) {
  if (process.argv.includes("--help")) console.log(HELP)
  else await main()
}
