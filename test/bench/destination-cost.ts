import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { parseArgs } from "node:util"
import { root } from "../../src/local/paths.ts"
import { cpuMs } from "./cpu.ts"
import { removeFolder } from "../support/remove-folder.ts"

/**
 * CPU time of a destination that is down: two gateways of `npm start` get the same calls at the same time, one of them
 * has a webhook without a listener. node test/bench/destination-cost.ts --seconds 120
 */
const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "120" },
    /** Calls a second at each gateway. */
    rate: { type: "string", default: "40" },
    /** Characters of a prompt. */
    size: { type: "string", default: "20" },
    /** The first of three ports. */
    port: { type: "string", default: "8960" },
  },
})
const rate = Number(values.rate)
const firstPort = Number(values.port)
const prompt = "How are you today? ".repeat(Math.ceil(Number(values.size) / 19)).slice(0, Number(values.size))

const WARM_SECONDS = 30
const PART_SECONDS = 20
const START_LIMIT_MS = 180_000

type Gateway = { process: ChildProcess; url: string; key: string; management: string; folder: string }

async function startGateway(name: string, port: number): Promise<Gateway> {
  const folder = path.join(root, ".wrangler/bench", name)
  removeFolder(folder)
  const args = ["src/dev/start.ts", "--port", String(port), "--state", folder]
  const child = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", "pipe", "inherit"] })
  let isReady = false
  child.stdout.on("data", (text: Buffer) => (isReady ||= text.includes("/api/v1")))
  for (const until = Date.now() + START_LIMIT_MS; !isReady; await sleep(200)) {
    if (Date.now() > until || child.exitCode !== null) throw new Error(`The gateway ${name} did not start.`)
  }
  const lines = readFileSync(path.join(folder, ".dev.env"), "utf8").split("\n")
  const valueOf = (variable: string) =>
    (lines.find((line) => line.startsWith(`${variable}=`)) ?? "").slice(variable.length + 1).replaceAll('"', "")
  const keys = { key: valueOf("GATEWAY_API_KEY"), management: valueOf("GATEWAY_MANAGEMENT_KEY") }
  return { process: child, url: valueOf("GATEWAY_URL"), ...keys, folder }
}

function post({ url }: Gateway, key: string, route: string, body: object): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
  return fetch(`${url}${route}`, { method: "POST", headers, body: JSON.stringify(body) })
}

async function callOnce(gateway: Gateway): Promise<void> {
  const messages = [{ role: "user", content: prompt }]
  const response = await post(gateway, gateway.key, "/chat/completions", { model: "sim/echo", messages })
  await response.text()
  if (!response.ok) throw new Error(`A call failed: ${response.status}`)
}

/** CPU time of a process and all that it started. */
function treeMs(pid: number): number {
  const parents = readdirSync("/proc").flatMap((entry) => {
    if (!/^\d+$/.test(entry)) return []
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, "utf8")
      return [[Number(entry), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1])] as const]
    } catch {
      return []
    }
  })
  const tree = [pid]
  for (const one of tree) tree.push(...parents.flatMap(([child, parent]) => (parent === one ? [child] : [])))
  return tree.reduce((sum, one) => sum + cpuMs(one), 0)
}

async function drive(gateways: readonly Gateway[], seconds: number): Promise<void> {
  const startedAt = Date.now()
  const calls: Promise<void>[] = []
  for (let at = 0; at < seconds * rate; at++) {
    await sleep(Math.max(0, startedAt + (at * 1_000) / rate - Date.now()))
    calls.push(...gateways.map(callOnce))
  }
  await Promise.all(calls)
}

const bare = await startGateway("without-destination", firstPort)
const listened = await startGateway("with-destination", firstPort + 1)
try {
  const config = { url: `http://127.0.0.1:${firstPort + 2}/calls` }
  await post(listened, listened.management, "/observability/destinations", { type: "webhook", name: "down", config })
  const gateways = [bare, listened]
  await drive(gateways, WARM_SECONDS)
  const sums = gateways.map(() => 0)
  const parts = Math.max(1, Math.round(Number(values.seconds) / PART_SECONDS))
  for (let part = 0; part < parts; part++) {
    const before = gateways.map((one) => treeMs(one.process.pid ?? 0))
    await drive(gateways, PART_SECONDS)
    await sleep(1_000)
    for (const [at, one] of gateways.entries())
      sums[at] = (sums[at] ?? 0) + treeMs(one.process.pid ?? 0) - (before[at] ?? 0)
  }
  const [without = 0, withOne = 0] = sums.map((sum) => sum / parts / PART_SECONDS / rate)
  console.log(JSON.stringify({ msPerCall: { without, with: withOne }, ratio: withOne / without }, null, 1))
} finally {
  for (const { process: child, folder } of [bare, listened]) {
    const ended = once(child, "exit")
    child.kill("SIGTERM")
    await ended
    removeFolder(folder)
  }
}
