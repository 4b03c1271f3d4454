import { spawnSync } from "node:child_process"
import path from "node:path"
import { parseArgs } from "node:util"
import { mutants } from "./all.ts"

const HELP = `npm run test:mutants -- [--only TEXT] [--seeds 3]

Runs the tests as they are, then the test of each mutant with its fault in the source. Ends with 1 if a test fails without a
fault, or if a mutant lives: if its test passes with every seed.`

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    seeds: { type: "string", default: "3" },
    help: { type: "boolean", short: "h", default: false },
  },
})
if (values.help) {
  console.log(HELP)
  process.exit(0)
}

const root = path.join(import.meta.dirname, "../..")
const vitest = path.join(root, "node_modules/vitest/vitest.mjs")
const chosen = mutants.filter(({ name }) => name.includes(values.only))
const seeds = Array.from({ length: Number(values.seeds) }, (_, index) => String(index + 1))

/** A test that hangs has found its mutant: without one it takes a minute. */
const HANGS_MS = 300_000

function run(test: string, seed: string, mutant: string) {
  const args = [
    vitest,
    "run",
    "--config",
    "test/vitest.config.ts",
    "--project",
    test.endsWith(".worker.test.ts") ? "worker" : "unit",
    test,
  ]
  const env = { ...process.env, MUTANT: mutant, TEST_DEPTH: "mutants", TEST_SEED: seed }
  const options = { cwd: root, env, encoding: "utf8", timeout: HANGS_MS, killSignal: "SIGKILL" } as const
  const { status, stdout, stderr, signal } = spawnSync(process.execPath, args, options)
  return { status, signal, output: stdout + stderr }
}

/** Whether the test fails for the right reason. */
function isFound(name: string, test: string, seed: string): boolean {
  const { status, signal, output } = run(test, seed, name)
  if (!output.includes(`mutated: ${name}`)) throw new Error(`The mutant was not loaded.\n${output}`)
  return signal !== null || (status !== 0 && /Property failed|AssertionError/.test(output))
}

for (const test of new Set(chosen.map((mutant) => mutant.test))) {
  for (const seed of seeds) {
    const { status, output } = run(test, seed, "")
    if (status === 0) continue
    console.log(`${test} fails without a mutant (seed ${seed}).\n${output}`)
    process.exit(1)
  }
}
const living = chosen.filter(({ name, test }) => {
  const seed = seeds.find((one) => isFound(name, test, one))
  console.log(seed === undefined ? `LIVES  ${name}` : `found  ${name} (seed ${seed})`)
  return seed === undefined
})
console.log(`${chosen.length - living.length} of ${chosen.length} mutants are found.`)
process.exitCode = living.length === 0 ? 0 : 1
