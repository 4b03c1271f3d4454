import { spawnSync } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { parseArgs } from "node:util"
import { ensureBuild } from "../../src/dev/build/build.ts"
import { type Child, startChild, stopChildren } from "./child.ts"
import { cpuMs, memoryKb } from "./cpu.ts"
import type { Job, Load } from "./load.ts"
import { picture } from "./picture.ts"
import { hasLitellm, installPortkey, QUIET } from "./prepare.ts"
import { legend, overBounds, report, type Slice } from "./report.ts"
import { type Row, startRows } from "./rows.ts"
import type { Target } from "./target.ts"
import { COST_NANO_USD, requestBody, type Workload, workloads as workloadsOf } from "./workloads.ts"

const HELP = `npm run bench -- [--quick] [--rounds N] [--offline]

What a request and an event of a stream cost in CPU, as multiples of a Worker that only passes bytes on.
  --quick    one short round (about 45 s)
  --rounds   how many (3, about 3 minutes)
  --check    fails where the gateway costs about twice what it should
  --only     workloads whose title contains one of these texts, separated by commas
  --svg      also writes the ratios as a picture to this file
  --offline  without Portkey's gateway, unless it is installed already`

const FOLDER = ".wrangler/bench"
const PORTKEY_FOLDER = `${FOLDER}/portkey`
/** Wait after the load: settlements are written later, and are part of the cost of a call. */
const SETTLING_MS = 700
/**
 * Calls of each target before it is measured: the compiler needs some thousands of a kind. By count, so that a slow
 * machine warms up as far as a fast one.
 */
const WARM_UP = { documents: 1_500, streams: 60 }

type Bench = { load: Child<object, Job, Load>; wrong: string[]; answers: Map<string, number> }

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      help: { type: "boolean" },
      quick: { type: "boolean" },
      offline: { type: "boolean" },
      only: { type: "string", default: "" },
      check: { type: "boolean" },
      rounds: { type: "string", default: "3" },
      svg: { type: "string" },
    },
  })
  if (values.help) return print(HELP)
  if (process.platform !== "linux") return print("The benchmark reads CPU times from /proc: it runs on Linux only.")
  const rounds = values.quick ? 1 : Math.max(1, Math.min(20, Number(values.rounds) || 3))
  const wanted = values.only.split(",")
  const isWanted = ({ title }: Workload) => wanted.some((text) => title.includes(text))
  const workloads = workloadsOf(values.quick ? 0.4 : 1).filter(isWanted)

  mkdirSync(FOLDER, { recursive: true })
  await ensureBuild()
  const isCheck = values.check === true
  const installed = `${PORTKEY_FOLDER}/node_modules/@portkey-ai/gateway`
  const noPortkey = isCheck ? null : installPortkey(PORTKEY_FOLDER, installed, !!values.offline)
  if (noPortkey !== null) print(`Without Portkey: ${noPortkey}.`)

  const pinned = availableParallelism() > 1 && spawnSync("taskset", ["-c", "0,1", "true"]).status === 0
  const cores = pinned ? { target: "0", client: "1" } : { target: undefined, client: undefined }
  const client = { core: cores.client, env: QUIET }
  const upstream = await startChild<{ port: number }, never, never>("upstream.ts", [], {
    ...client,
    logFile: `${FOLDER}/upstream.log`,
  })
  const load = await startChild<object, Job, Load>("load.ts", [], { ...client, logFile: `${FOLDER}/load.log` })
  const start = (kind: string) =>
    startChild<Target, never, never>("target.ts", [kind, String(upstream.port)], {
      core: cores.target,
      env: QUIET,
      logFile: `${FOLDER}/${kind}.log`,
    })
  const rows = await startRows(start, { portkey: noPortkey === null, litellm: !isCheck && hasLitellm() }, isCheck)
  const bench: Bench = { load, wrong: [], answers: new Map() }
  for (const row of rows) await check(row, workloads, bench)

  const slices: Slice[] = []
  for (let round = 1; round <= rounds && bench.wrong.length === 0; round += 1) {
    for (const workload of workloads) {
      // The first target finds the machine in another state than the last.
      const order = [...rows.slice(round % rows.length), ...rows.slice(0, round % rows.length)]
      for (const row of order) if (row.takes(workload)) slices.push(await measure(row, workload, round, bench))
    }
    process.stderr.write(`round ${round} of ${rounds}\n`)
  }
  const isFirst = ({ target }: Row, at: number) => rows.findIndex((row) => row.target === target) === at
  for (const row of rows.filter(isFirst)) await checkCharges(row, bench)

  if (isCheck) bench.wrong.push(...overBounds(slices))
  const names = rows.map(({ name }) => name)
  if (slices.length > 0) print(report(names, workloads, slices), "", legend(workloads))
  if (values.svg !== undefined && slices.length > 0) writeFileSync(values.svg, picture(names, workloads, slices))
  print(machine(pinned, rounds), ...bench.wrong.map((fault) => `WRONG: ${fault}`))
  return bench.wrong.length > 0 ? 1 : 0
}

/** Reads one response of each kind in full, then warms the target up. */
async function check(row: Row, workloads: readonly Workload[], bench: Bench): Promise<void> {
  for (const workload of workloads.filter(row.takes)) {
    const short = workload.perSecond > 0 ? { ...workload, events: 5 } : workload
    note(row, short, await bench.load.request(jobOf(row, short, { verify: true, workload: short })), bench)
    if (workload.perSecond > 0) continue
    const warmUp = { ...workload, calls: workload.events > 0 ? WARM_UP.streams : WARM_UP.documents }
    note(row, warmUp, await bench.load.request(jobOf(row, warmUp, { verify: false, workload: warmUp })), bench)
  }
}

async function measure(row: Row, workload: Workload, round: number, bench: Bench): Promise<Slice> {
  const before = cpuMs(row.target.worker)
  const memory = watchMemory(row.target.worker)
  const load = await bench.load.request(jobOf(row, workload, { verify: false, workload }))
  const addedKb = memory.stop()
  await new Promise((resolve) => setTimeout(resolve, SETTLING_MS))
  const used = cpuMs(row.target.worker) - before
  note(row, workload, load, bench)
  return {
    row: row.name,
    workload: workload.title,
    round,
    cpuEach: used / (workload.events === 0 ? load.answers : load.answers * workload.events),
    firstByteMs: load.firstByteMs,
    kbEach: workload.perSecond > 0 ? addedKb / workload.concurrency : 0,
    delivered: load.events / ((workload.perSecond > 0 ? workload.concurrency : load.answers) * workload.events),
  }
}

const MEMORY_INTERVAL_MS = 100

/** Kilobytes that a process adds at its peak. */
function watchMemory(pid: number): { stop: () => number } {
  const before = memoryKb(pid)
  let peak = before
  const timer = setInterval(() => (peak = Math.max(peak, memoryKb(pid))), MEMORY_INTERVAL_MS)
  const stop = () => {
    clearInterval(timer)
    return Math.max(peak, memoryKb(pid)) - before
  }
  return { stop }
}

function jobOf(row: Row, workload: Workload, how: Pick<Job, "verify" | "workload">): Job {
  const { url, headers, model } = row.target
  const job = { url: url.replace("chat/completions", workload.path), headers: row.keys?.[0] ?? headers, keys: row.keys }
  const fields = workload.events > 0 ? row.streamFields : undefined
  return { ...job, body: requestBody(workload, { model, ...fields }), ...how } as Job
}

/** Counts faulty responses, and the calls that must have been charged. */
function note(row: Row, workload: Workload, load: Load, { wrong, answers }: Bench): void {
  const where = `${row.name}, ${workload.title}`
  if (load.wrong > 0) wrong.push(`${where}: ${load.wrong} of ${load.answers + load.wrong}, the first: ${load.fault}`)
  const { credits } = row.target
  if (credits) answers.set(credits.url, (answers.get(credits.url) ?? 0) + load.answers)
}

/** Checks that every response was charged once, at its price. */
async function checkCharges(row: Row, { wrong, answers }: Bench): Promise<void> {
  const { credits } = row.target
  if (!credits) return
  const answer = await fetch(credits.url, { headers: credits.headers })
  const { data } = (await answer.json()) as { data: { total_usage: number } }
  const calls = answers.get(credits.url) ?? 0
  const charged = Math.round(data.total_usage * 1e9)
  const due = calls * COST_NANO_USD
  if (charged === due) print(`Charged: ${calls} calls, ${data.total_usage} USD, as due.`)
  else wrong.push(`${row.name}: ${calls} calls cost ${due / 1e9} USD, and ${data.total_usage} USD was charged`)
}

function machine(pinned: boolean, rounds: number): string {
  const manifest = JSON.parse(readFileSync("node_modules/workerd/package.json", "utf8")) as { version: string }
  const pins = pinned ? "target on core 0, client and upstream on core 1" : "not pinned to cores"
  return `${availableParallelism()} cores (${pins}), Node ${process.version}, workerd ${manifest.version}, ${rounds} rounds`
}

function print(...lines: string[]): 0 {
  for (const line of lines) console.log(line)
  return 0
}

let interrupted = false
for (const event of ["SIGINT", "SIGTERM"] as const) {
  process.once(event, () => {
    interrupted = true
    void stopChildren().finally(() => process.exit(130))
  })
}
try {
  process.exitCode = await main()
} catch (thrown) {
  if (!interrupted) console.error(thrown)
  process.exitCode = 1
} finally {
  await stopChildren()
}
