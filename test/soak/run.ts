import { mkdirSync, writeFileSync } from "node:fs"
import path from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { parseArgs } from "node:util"
import { ensureBuild } from "../../src/dev/build/build.ts"
import { root } from "../../src/dev/options.ts"
import { Random } from "../fuzz/random.ts"
import { api, type Books, chargedUsd, compare, driftsOf, reconcile } from "./books.ts"
import { Client, type Fault, Interrupted } from "./client.ts"
import { BOOTSTRAP, Gateway } from "./gateway.ts"
import { collectGarbage } from "./collect-garbage.ts"
import { growthOf, MAX_DESCRIPTORS, MAX_GROWTH, percentile, type Sample } from "./measure.ts"
import { PRICES, type Provider, startProvider } from "./provider.ts"
import { picture, table } from "./report.ts"
import { type Account, type Scenario, scenarios } from "./traffic.ts"
import { removeFolder } from "../support/remove-folder.ts"

const HELP = `npm run soak -- [--minutes 30] [--rate 12] [--seed N] [--port 8830] [--no-kills]

Runs the built gateway with a provider on this machine under a mix of all traffic, and kills it at random moments
(kill -9) in the first third of the run. Ends with 1 on a 5xx or a broken stream that no kill explains, a request
without an end, an unhandled rejection, money that does not reconcile, or a process that grows by more than ${MAX_GROWTH} MB a
minute after four minutes of warm-up. Writes .wrangler/soak/report.json, soak.svg and gateway.log.
  --rate   scenarios that begin in a second; the same seed kills and mixes alike
  --only   scenarios whose name contains this text`

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "30" },
    rate: { type: "string", default: "12" },
    seed: { type: "string" },
    port: { type: "string", default: "8830" },
    kills: { type: "boolean", default: true },
    only: { type: "string", default: "" },
    help: { type: "boolean", short: "h", default: false },
  },
  allowNegative: true,
})

const SAMPLE_EVERY_MS = 10_000
const RECONCILED_EVERY = 6
/** Scenarios that run concurrently; a slow machine begins fewer. */
const MAX_RUNNING = 80
const MEAN_BETWEEN_KILLS_MS = 40_000
const INTERNS = 4
const folder = path.join(root, ".wrangler/soak")

type Run = {
  gateway: Gateway
  provider: Provider
  account: Account
  startedAt: number
  endsAt: number
  faults: Fault[]
  counts: Map<string, { done: number; interrupted: number }>
  latencies: number[]
  samples: Sample[]
  logged: string[]
}

async function newAccount(gateway: Gateway): Promise<Account> {
  type Made = { data: { id: string; api_key: string; management_key: string; workspace_id: string } }
  const input = { name: "Soak", starting_balance_usd: 1_000 }
  const { data } = await api<Made>(gateway, BOOTSTRAP, "/organizations", input)
  const interns: string[] = []
  for (let at = 0; at < INTERNS; at++) {
    const intern = { name: `soak-${at}`, model: "soak/chat", provision: true }
    interns.push((await api<{ id: string }>(gateway, data.api_key, "/interns", intern)).id)
  }
  for (const id of interns) {
    const statusOf = async () => (await api<{ status: string }>(gateway, data.api_key, `/interns/${id}`)).status
    for (let tries = 0; tries < 100 && (await statusOf()) !== "running"; tries++) await wait(100)
  }
  return {
    organizationId: data.id,
    apiKey: data.api_key,
    managementKey: data.management_key,
    workspaceId: data.workspace_id,
    interns,
  }
}

const mixed = scenarios.filter(({ name }) => name.includes(values.only))

function choose(random: Random): Scenario {
  let left = random.next() * mixed.reduce((sum, { weight }) => sum + weight, 0)
  for (const scenario of mixed) {
    left -= scenario.weight
    if (left <= 0) return scenario
  }
  throw new Error("There is no scenario.")
}

async function runScenario(run: Run, scenario: Scenario, random: Random): Promise<void> {
  const { name } = scenario
  const count = run.counts.get(name) ?? { done: 0, interrupted: 0 }
  run.counts.set(name, count)
  const client = new Client(run.gateway, name, {
    fault: (fault) => run.faults.push(fault),
    reply: ({ firstByteMs }) => name === "JSON" && run.latencies.push(firstByteMs),
  })
  try {
    await scenario.run(client, run.account, random)
    count.done++
  } catch (thrown) {
    // Its faults are recorded already.
    if (thrown instanceof Interrupted) count.interrupted++
  }
}

async function drive(run: Run, random: Random, rate: number): Promise<void> {
  const running = new Set<Promise<void>>()
  while (Date.now() < run.endsAt) {
    await wait((1_000 / rate) * (0.5 + random.next()))
    const seed = random.int(2 ** 31)
    const scenario = choose(random)
    if (running.size >= MAX_RUNNING) continue
    const one = runScenario(run, scenario, new Random(seed)).finally(() => running.delete(one))
    running.add(one)
  }
  await Promise.all(running)
}

/** Only in the first third, so that the last processes run long enough to show growth. */
async function killAtRandom({ gateway, startedAt, endsAt }: Run, random: Random): Promise<void> {
  const until = startedAt + (endsAt - startedAt) / 3
  for (;;) {
    const pause = 10_000 - Math.log(1 - random.next()) * (MEAN_BETWEEN_KILLS_MS - 10_000)
    const victim = random.chance(0.7) ? "runtime" : "supervisor"
    if (Date.now() + pause > until) return
    await wait(pause)
    const { from, to } = await gateway.kill(victim)
    console.log(`killed the ${victim}; back after ${((to - from) / 1_000).toFixed(1)} s`)
  }
}

async function sample(run: Run, isFull: boolean): Promise<void> {
  const { gateway, account, provider, samples } = run
  const latencies = run.latencies.splice(0)
  const last = samples.at(-1)
  // A gateway that is being killed does not respond: the previous figures stay.
  if (isFull) await collectGarbage(gateway.inspectorPort).catch(() => undefined)
  const charged = await chargedUsd(gateway, account).catch(() => last?.chargedUsd ?? 0)
  samples.push({
    second: (Date.now() - run.startedAt) / 1_000,
    processes: gateway.processes(),
    isCollected: isFull,
    calls: [...run.counts.values()].reduce((sum, { done }) => sum + done, 0),
    p50: percentile(latencies, 0.5),
    p95: percentile(latencies, 0.95),
    p99: percentile(latencies, 0.99),
    servedUsd: provider.served.reduce((sum, { costNano }) => sum + costNano, 0) / 1e9,
    chargedUsd: charged,
    drifts: isFull ? await driftsOf(gateway, account).catch(() => null) : null,
    kills: gateway.outages.length,
  })
}

async function sampleUntilTheEnd(run: Run): Promise<void> {
  for (let at = 1; Date.now() < run.endsAt; at++) {
    await wait(SAMPLE_EVERY_MS)
    await sample(run, at % RECONCILED_EVERY === 0)
  }
}

/** Until nothing is held: what a kill left behind is charged when its hold expires. */
async function settled({ gateway, account }: Run): Promise<void> {
  const deadline = Date.now() + 90_000
  let before = -1
  while (Date.now() < deadline) {
    const now = await chargedUsd(gateway, account)
    if (now === before) return
    before = now
    await wait(25_000)
  }
}

function verdict(run: Run, books: Books, unreconciled: string | undefined): string[] {
  const wrong = run.faults.map(({ scenario, what }) => `${scenario}: ${what}`)
  wrong.push(...run.logged.map((line) => `logged: ${line.slice(0, 300)}`), ...books.faults)
  if (unreconciled !== undefined) wrong.push(`reconcile: ${unreconciled}`)
  const drifts = run.samples.reduce((sum, one) => sum + (one.drifts ?? 0), 0)
  if (drifts > 0) wrong.push(`${drifts} differences between the ledger and its generations during the run`)
  for (const { name, mbAMinute, minutes } of growthOf(run.samples)) {
    if (mbAMinute > MAX_GROWTH)
      wrong.push(`${name} grew by ${mbAMinute.toFixed(1)} MB a minute for ${minutes.toFixed(0)} minutes`)
  }
  const most = Math.max(...run.samples.flatMap(({ processes }) => processes.map(({ descriptors }) => descriptors)))
  if (most > MAX_DESCRIPTORS) wrong.push(`${most} open descriptors`)
  return wrong
}

async function soak(seed: number): Promise<string[]> {
  const [minutes, rate] = [Number(values.minutes), Number(values.rate)]
  removeFolder(folder)
  mkdirSync(folder, { recursive: true })
  await ensureBuild()
  const provider = await startProvider()
  const models = ["chat", "slow"].map((id) => ({ id, ...PRICES }))
  const embeddings = { id: "embed", prompt: PRICES.prompt, completion: "0", output: ["embeddings"] }
  const custom = [{ slug: "soak", base_url: provider.baseUrl, api_key: "soak", models: [...models, embeddings] }]
  const logged: string[] = []
  const gateway = new Gateway({
    port: Number(values.port),
    folder,
    provider: JSON.stringify(custom),
    onLog: (line) => {
      const now = Date.now()
      if (/unhandled|uncaught/i.test(line) && !gateway.wasOut(now - 1_000, now)) logged.push(line)
    },
  })
  try {
    await gateway.start()
    const account = await newAccount(gateway)
    const startedAt = Date.now()
    const endsAt = startedAt + minutes * 60_000
    const run: Run = {
      gateway,
      provider,
      account,
      startedAt,
      endsAt,
      logged,
      faults: [],
      counts: new Map(),
      latencies: [],
      samples: [],
    }
    const random = new Random(seed)
    const kills = values.kills ? killAtRandom(run, new Random(seed + 1)) : undefined
    await Promise.all([drive(run, random, rate), sampleUntilTheEnd(run), kills])
    await settled(run)
    const unreconciled = reconcile(gateway)
    await sample(run, true)
    await gateway.stop()
    const books = compare(path.join(folder, "state"), provider.served, gateway.outages)
    const wrong = verdict(run, books, unreconciled)
    writeReport(run, { seed, minutes, rate, books, wrong })
    return wrong
  } finally {
    await gateway.stop()
    await provider.close()
  }
}

function writeReport(run: Run, result: { seed: number; minutes: number; rate: number; books: Books; wrong: string[] }) {
  const { samples, gateway, counts } = run
  const growth = growthOf(samples)
  const report = { ...result, counts: Object.fromEntries(counts), outages: gateway.outages, growth, samples }
  writeFileSync(path.join(folder, "report.json"), JSON.stringify(report, null, 2))
  writeFileSync(path.join(folder, "soak.svg"), picture(samples, gateway.outages, run.startedAt))
  const { books } = result
  console.log(`\n${table(samples)}\n`)
  for (const [name, { done, interrupted }] of counts) console.log(`${name}: ${done} done, ${interrupted} interrupted`)
  for (const { name, minutes, fromMb, toMb, mbAMinute } of growth) {
    console.log(
      `${name}: ${fromMb.toFixed(0)} to ${toMb.toFixed(0)} MB in ${minutes.toFixed(1)} minutes, ${mbAMinute.toFixed(1)} MB a minute`,
    )
  }
  console.log(
    `${books.responses} responses of the provider, ${books.complete} complete: ${books.exact} charged exactly, ${books.estimated} by estimate after a kill. ` +
      `Served $${books.servedUsd.toFixed(6)}, charged $${books.chargedUsd.toFixed(6)}. Endings: ${JSON.stringify(books.endings)}`,
  )
}

if (values.help) console.log(HELP)
else {
  const seed = Number(values.seed ?? Date.now() % 1_000_000)
  console.log(`Soaking for ${values.minutes} minutes with --seed ${seed}.`)
  const wrong = await soak(seed)
  for (const line of wrong.slice(0, 40)) console.log(`WRONG: ${line}`)
  console.log(wrong.length === 0 ? "Clean." : `${wrong.length} faults.`)
  process.exitCode = wrong.length === 0 ? 0 : 1
}
