import { parseArgs } from "node:util"
import buildBundle from "../runtime/bundle.ts"
import { fuzz } from "./fuzz.ts"

const HELP = `npm run fuzz -- [--count 20000] [--seed N] [--no-build]

Starts the built gateway on this machine with a provider that fails in every way, and sends generated requests to every
operation of the OpenAPI document. Ends with 1 if an answer is a 5xx of the gateway itself, has no error envelope or no
request id, is outside the schema of its status, or contains a secret, or if the gateway logs an unhandled exception.`

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "20000" },
    seed: { type: "string" },
    build: { type: "boolean", default: true },
    help: { type: "boolean", short: "h", default: false },
  },
  allowNegative: true,
})

async function main(): Promise<void> {
  if (values.help) return console.log(HELP)
  const seed = Number(values.seed ?? Date.now() % 1_000_000)
  const count = Number(values.count)
  if (values.build) await buildBundle()
  console.log(`Sending ${count} requests with --seed ${seed}.`)
  const startedAt = Date.now()
  const report = await fuzz({ seed, count, onProgress: (sent) => console.log(`${sent} sent`) })
  const seconds = (Date.now() - startedAt) / 1_000
  for (const { index, what, request, answer } of report.faults) {
    console.log(`\n#${index} ${what}\n${request}\n${answer}`)
  }
  for (const line of report.exceptions) console.log(`\nlogged: ${line}`)
  const statuses = Object.entries(report.statuses).map(([status, times]) => `${status}: ${times}`)
  console.log(`\n${report.requests} requests in ${seconds.toFixed(0)} s. ${statuses.join(", ")}.`)
  console.log(`${report.faults.length} kinds of faults, ${report.exceptions.length} kinds of exceptions.`)
  process.exitCode = report.faults.length + report.exceptions.length === 0 ? 0 : 1
}

await main()
