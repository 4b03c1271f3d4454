import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { createInterface } from "node:readline/promises"
import { ensureConsole } from "./build/console-build.ts"
import { jurisdictionOf, requireDatabaseIn } from "./deploy/jurisdiction.ts"
import { describeSecrets, secretsToUpload } from "./deploy/deploy-secrets.ts"
import { shim } from "./start/wrangler.ts"
import { root } from "./options.ts"

/**
 * Deploys to production: migrations, then the code. The first deploy creates the database, so its migrations follow it.
 * Arguments are passed to `wrangler deploy`; `--dry-run` builds without an account.
 */
const args = process.argv.slice(2)
const PRODUCTION = ["--env", "production"]

function wrangler(command: readonly string[], stdio: "inherit" | "pipe") {
  return spawnSync(process.execPath, ["--no-warnings", shim, ...command], { cwd: root, stdio, encoding: "utf8" })
}

function run(...command: string[]): void {
  const { status } = wrangler(command, "inherit")
  if (status !== 0) process.exit(status ?? 1)
}

const succeeds = (...command: string[]) => wrangler(command, "pipe").status === 0

/** A deploy creates every resource but queues, which must exist. */
function makeQueues(names: ReadonlySet<string>, options: readonly string[]): void {
  for (const name of names) {
    if (!succeeds("queues", "info", name)) run("queues", "create", name, ...options)
  }
}

const migrate = () => run("d1", "migrations", "apply", "gateway", ...PRODUCTION, "--remote")

/** A deploy would also create the database, but without a jurisdiction. True if it exists. */
function ensureDatabase(jurisdiction: string | undefined): boolean {
  const { status, stdout } = wrangler(["d1", "info", "gateway", ...PRODUCTION, "--json"], "pipe")
  if (status === 0) requireDatabaseIn(jurisdiction, stdout)
  else if (jurisdiction === undefined) return false
  else run("d1", "create", "gateway", "--jurisdiction", jurisdiction)
  return true
}

/** Names of the Worker's secrets; none before its first deploy. */
function secretNames(): ReadonlySet<string> {
  const { status, stdout } = wrangler(["secret", "list", ...PRODUCTION, "--format", "json"], "pipe")
  const listed = status === 0 ? (JSON.parse(stdout) as { name: string }[]) : []
  return new Set(listed.map(({ name }) => name))
}

/** Prompts once for missing secrets. Uploads them with the code, so that the first version already works. */
async function upload(): Promise<void> {
  const terminal = process.stdin.isTTY ? createInterface({ input: process.stdin, output: process.stdout }) : undefined
  const prompt = terminal && ((question: string) => terminal.question(question))
  const outcome = await secretsToUpload(secretNames(), process.env, prompt)
  terminal?.close()
  const command = ["deploy", ...PRODUCTION, "--minify", ...args]
  if (Object.keys(outcome.secrets).length > 0) {
    const folder = mkdtempSync(path.join(tmpdir(), "gateway-deploy-"))
    const file = path.join(folder, "secrets.json")
    writeFileSync(file, JSON.stringify(outcome.secrets), { mode: 0o600 })
    process.on("exit", () => rmSync(folder, { recursive: true, force: true }))
    command.push("--secrets-file", file)
  }
  run(...command)
  const message = describeSecrets(outcome)
  if (message !== "") console.log(message)
}

async function deploy(): Promise<void> {
  const { unstable_readConfig: readConfig } = await import("wrangler")
  const config = readConfig({ config: path.join(root, "wrangler.toml"), env: "production" })
  const jurisdiction = jurisdictionOf(config)
  await ensureConsole()
  if (args.includes("--dry-run")) return run("deploy", ...PRODUCTION, "--minify", ...args)
  const queues: readonly { queue: string }[] = config.queues.consumers ?? []
  makeQueues(new Set(queues.map(({ queue }) => queue)), jurisdiction ? ["--jurisdiction", jurisdiction] : [])
  // Migrations only add, so the running release works on the new schema, and the new release never lacks it.
  const isMigratedFirst = ensureDatabase(jurisdiction)
  if (isMigratedFirst) migrate()
  await upload()
  if (!isMigratedFirst) migrate()
}

deploy().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
})
