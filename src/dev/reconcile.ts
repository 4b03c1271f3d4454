import path from "node:path"
import { readEnvFile } from "./dev-vars.ts"
import { root } from "./options.ts"

/**
 * `npm run reconcile`: compares the ledgers of the running gateway with their generations. On a deployed one, give it
 * GATEWAY_URL and BOOTSTRAP_MANAGEMENT_KEY.
 */
type Drift = { scope: string; window: string; charged_usd: number; recorded_usd: number; repaired: boolean }
type Answer = {
  data?: { organization_id: string; restored_generations: number; drifts: Drift[] }[]
  error?: { message: string }
}

const files = { ...readEnvFile(path.join(root, ".dev.vars")), ...readEnvFile(path.join(root, ".dev.env")) }
const { GATEWAY_URL: url, BOOTSTRAP_MANAGEMENT_KEY: key } = { ...files, ...process.env }
if (!url || !key) {
  console.error("Start the gateway first (npm start), or set GATEWAY_URL and BOOTSTRAP_MANAGEMENT_KEY.")
  process.exit(2)
}

const response = await fetch(`${url}/reconciliations`, {
  method: "POST",
  headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
  body: "{}",
}).catch(() => undefined)
if (!response) {
  console.error(`There is no gateway at ${url}. Start it first: npm start.`)
  process.exit(2)
}
const { data, error } = (await response.json()) as Answer
if (!data) {
  console.error(error?.message ?? `The gateway answered ${response.status}.`)
  process.exit(1)
}
for (const { organization_id: id, restored_generations: restored, drifts } of data) {
  console.log(`${id}: ${drifts.length === 0 ? "the ledger is the sum of its generations" : "they differ"}`)
  if (restored > 0) console.log(`  ${restored} generations were restored`)
  for (const { scope, window, charged_usd: charged, recorded_usd: recorded, repaired } of drifts) {
    console.log(`  ${scope} ${window}: charged ${charged}, recorded ${recorded} USD${repaired ? ", repaired" : ""}`)
  }
}
const isOff = data.some(({ drifts }) => drifts.some(({ repaired }) => !repaired))
process.exit(isOff ? 1 : 0)
