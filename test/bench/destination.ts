import { createServer } from "node:http"
import { readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { parseArgs } from "node:util"

/**
 * Soak of a destination: calls at a fixed rate against a running gateway, with a webhook that fails, and the CPU time of
 * the runtime meanwhile. Run it once with `--fails none` for the figure without a destination:
 *
 *   node test/bench/destination.ts --url http://127.0.0.1:8950 --key $KEY --management $MANAGEMENT_KEY \
 *     --pid <workerd> --fails half --seconds 120
 */
const { values } = parseArgs({
  options: {
    url: { type: "string", default: "http://127.0.0.1:8787" },
    key: { type: "string", default: "" },
    management: { type: "string", default: "" },
    /** Process ids of workerd, separated by commas. */
    pid: { type: "string", default: "" },
    /**
     * `none`: without a destination. `half`: every second delivery fails, at random. `all`: every delivery fails until
     * the end.
     */
    fails: { type: "string", default: "half" },
    /** Without prompts and completions. */
    private: { type: "boolean", default: false },
    rate: { type: "string", default: "40" },
    seconds: { type: "string", default: "120" },
    port: { type: "string", default: "8955" },
  },
})

const TICKS_PER_SECOND = 100
const DRAIN_LIMIT_MS = 150_000

function cpuSeconds(): number {
  const ticks = values.pid.split(",").map((pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /, "")
      .split(" ")
    return Number(fields[11]) + Number(fields[12])
  })
  return ticks.reduce((sum, one) => sum + one, 0) / TICKS_PER_SECOND
}

const api = (key: string, path: string, init: RequestInit = {}) =>
  fetch(`${values.url}/api/v1${path}`, {
    ...init,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
  })

let isFailing = values.fails !== "none"
const received = new Map<string, number>()
const receiver = createServer((request, response) => {
  let body = ""
  request.on("data", (part: Buffer) => (body += part.toString()))
  request.on("end", () => {
    if (isFailing && (values.fails === "all" || Math.random() < 0.5)) return response.writeHead(503).end()
    for (const [, id = ""] of body.matchAll(/"gateway.generation_id","value":\{"stringValue":"([^"]+)"/g)) {
      received.set(id, (received.get(id) ?? 0) + 1)
    }
    response.writeHead(200).end()
  })
}).listen(Number(values.port), "127.0.0.1")

type Destination = { data: { id: string; backlog: number; dead_letters: number } }

async function newDestination(): Promise<string> {
  const config = { url: `http://127.0.0.1:${values.port}/calls` }
  const body = JSON.stringify({ type: "webhook", name: "soak", config, privacy_mode: values.private })
  const made = await api(values.management, "/observability/destinations", { method: "POST", body })
  return ((await made.json()) as Destination).data.id
}

const id = values.fails === "none" ? undefined : await newDestination()
const backlogOf = async () => {
  const answer = await api(values.management, `/observability/destinations/${id}`)
  return ((await answer.json()) as Destination).data
}

const sent = new Set<string>()
const running = new Set<Promise<void>>()
async function callOnce(): Promise<void> {
  const messages = [{ role: "user", content: "How are you today?" }]
  const response = await api(values.key, "/chat/completions", {
    method: "POST",
    body: JSON.stringify({ model: "sim/echo", messages }),
  })
  await response.text()
  const generation = response.headers.get("x-generation-id")
  if (generation !== null) sent.add(generation)
}

const intervalMs = 1_000 / Number(values.rate)
const startedAt = performance.now()
const startCpu = cpuSeconds()
let longest = 0
let nextLook = startedAt
for (let at = 0; performance.now() - startedAt < Number(values.seconds) * 1_000; at++) {
  await sleep(Math.max(0, startedAt + at * intervalMs - performance.now()))
  const one: Promise<void> = callOnce().finally(() => running.delete(one))
  running.add(one)
  if (id !== undefined && performance.now() > nextLook) {
    nextLook += 10_000
    const { backlog } = await backlogOf()
    longest = Math.max(longest, backlog)
  }
}
await Promise.all(running)
const cpuPercent = ((cpuSeconds() - startCpu) / ((performance.now() - startedAt) / 1_000)) * 100
const report: Record<string, unknown> = { fails: values.fails, calls: sent.size, cpuPercent, longestBacklog: longest }

if (id !== undefined) {
  const waiting = sent.size - received.size
  isFailing = false
  const recoveredAt = performance.now()
  while (received.size < sent.size && performance.now() - recoveredAt < DRAIN_LIMIT_MS) await sleep(100)
  const drainSeconds = (performance.now() - recoveredAt) / 1_000
  const lost = [...sent].filter((one) => !received.has(one)).length
  const doubles = [...received.values()].filter((count) => count > 1).length
  Object.assign(report, { waiting, drainSeconds, lost, doubles, ...(await backlogOf()), config: undefined })
  await api(values.management, `/observability/destinations/${id}`, { method: "DELETE" })
}
console.log(
  JSON.stringify(
    report,
    [
      "fails",
      "calls",
      "cpuPercent",
      "longestBacklog",
      "waiting",
      "drainSeconds",
      "lost",
      "doubles",
      "backlog",
      "dead_letters",
    ],
    1,
  ),
)
receiver.close()
