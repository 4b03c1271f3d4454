import { parseArgs } from "node:util"
import buildBundle from "../runtime/bundle.ts"
import { differential } from "./differential/run.ts"
import { fuzzFrames } from "./frames/run.ts"
import { fuzz } from "./fuzz.ts"

const HELP = `npm run fuzz -- [--differential | --frames] [--count 20000] [--seed N] [--no-build]

Starts the built gateway on this machine with a provider that fails in every way, and sends generated requests to every
operation of the OpenAPI document. Ends with 1 if an answer is a 5xx of the gateway itself, has no error envelope or no
request id, is outside the schema of its status, or contains a secret, or if the gateway logs an unhandled exception.

--differential sends chat requests on the hot path and through the router, and conversations as chat, responses and
messages, whole and streamed. Ends with 1 if two upstream requests, answers, usages or charges differ.

--frames sends valid calls in every API format to providers of every format whose answers are broken. Ends with 1 if an
answer is a 5xx of the gateway itself, has no error envelope, is a stream that clients cannot read, does not end, or has
another usage than was charged.`

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "20000" },
    seed: { type: "string" },
    differential: { type: "boolean", default: false },
    frames: { type: "boolean", default: false },
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
  if (values.differential) return compare(seed, count)
  if (values.frames) return breakFrames(seed, count)
  console.log(`Sending ${count} requests with --seed ${seed}.`)
  const startedAt = Date.now()
  const report = await fuzz({ seed, count, onProgress: (sent) => console.log(`${sent} sent`) })
  const seconds = (Date.now() - startedAt) / 1_000
  for (const { index, what, request, answer } of report.faults) {
    console.log(`\n#${index} ${what}\n${request}\n${answer}`)
  }
  for (const line of report.exceptions) console.log(`\nlogged: ${line}`)
  console.log(`\n${report.requests} requests in ${seconds.toFixed(0)} s. ${listOf(report.statuses)}.`)
  console.log(`${report.faults.length} kinds of faults, ${report.exceptions.length} kinds of exceptions.`)
  process.exitCode = report.faults.length + report.exceptions.length === 0 ? 0 : 1
}

async function compare(seed: number, count: number): Promise<void> {
  console.log(`Comparing ${count} cases with --seed ${seed}.`)
  const startedAt = Date.now()
  const report = await differential({ seed, count, onProgress: (cases) => console.log(`${cases} compared`) })
  for (const { what, seed: caseSeed, request, one, other } of report.differences) {
    console.log(`\n#${caseSeed} ${what}\n${request.slice(0, 6_000)}\n- ${part(one, other)}\n+ ${part(other, one)}`)
  }
  const seconds = (Date.now() - startedAt) / 1_000
  const { cases, requests, statuses, differences } = report
  console.log(`\n${cases} cases in ${requests} requests and ${seconds.toFixed(0)} s. ${listOf(statuses)}.`)
  console.log(`${differences.length} differences.`)
  process.exitCode = differences.length === 0 ? 0 : 1
}

async function breakFrames(seed: number, count: number): Promise<void> {
  console.log(`Sending ${count} calls with --seed ${seed}.`)
  const startedAt = Date.now()
  const report = await fuzzFrames({ seed, count, onProgress: (calls) => console.log(`${calls} sent`) })
  for (const { index, what, steps, sent, answer } of report.faults) {
    console.log(`\n#${index} ${what}\n${steps}\n> ${sent}\n< ${answer}`)
  }
  for (const line of report.exceptions) console.log(`\nlogged: ${line}`)
  const seconds = (Date.now() - startedAt) / 1_000
  const { calls, statuses, faults, exceptions, openHolds } = report
  console.log(`\n${calls} calls in ${seconds.toFixed(0)} s. ${listOf(statuses)}.`)
  console.log(`${faults.length} kinds of faults, ${exceptions.length} kinds of exceptions, ${openHolds} open holds.`)
  process.exitCode = faults.length + exceptions.length + openHolds === 0 ? 0 : 1
}

const listOf = (statuses: Record<string, number>) =>
  Object.entries(statuses)
    .map(([status, times]) => `${status}: ${times}`)
    .join(", ")

const SHOWN_BEFORE = 200
const SHOWN_AFTER = 400

/** A text from shortly before the position where the other one differs. */
function part(text: string, other: string): string {
  let at = 0
  while (at < text.length && text[at] === other[at]) at++
  return text.slice(Math.max(0, at - SHOWN_BEFORE), at + SHOWN_AFTER)
}

await main()
