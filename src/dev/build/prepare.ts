import { randomBytes } from "node:crypto"
import { mkdirSync } from "node:fs"
import path from "node:path"
import { lock } from "../../local/lock.ts"
import { isMigrated, migrateState } from "../../local/migrate-state.ts"
import { requireWritable, root } from "../../local/paths.ts"
import { ancestorOf } from "../../local/processes.ts"
import { migrationNames, readDatabaseSpec } from "./build.ts"
import { ensureConsole } from "./console-build.ts"
import { ensureDevVars, readEnvFile, setVariables, writeEnvFile } from "../start/dev-vars.ts"
import { ensurePython } from "./python-build.ts"

/**
 * The build step of wrangler.toml: the console, and for `wrangler dev` secrets, keys and the schema of the local
 * database, each unless it is up to date.
 */
async function prepare(): Promise<void> {
  requireWritable([root])
  await ensureConsole()
  ensurePython()
  if (process.env["WRANGLER_COMMAND"] !== "dev") return
  const stateDir = path.join(root, ".wrangler/state")
  const locked = await lock(stateDir, { pid: ancestorOf(process.pid, "wrangler") })
  if ("reason" in locked) throw new Error(`${locked.reason} End npm start before you run wrangler dev.`)
  const devVars = path.join(root, ".dev.vars")
  const secrets = ensureDevVars(devVars)
  ensureKeys(secrets, devVars)
  await migrateDatabase(stateDir)
}

/** The same two keys for the Worker, which creates them, and for clients. */
function ensureKeys(secrets: NodeJS.Dict<string>, devVars: string): void {
  const envFile = path.join(root, ".dev.env")
  const stored = readEnvFile(envFile)
  const newKey = () => `sk-gw-v1-${randomBytes(32).toString("base64url")}`
  const values = {
    GATEWAY_URL: stored["GATEWAY_URL"] ?? "http://127.0.0.1:8787/api/v1",
    GATEWAY_MANAGEMENT_KEY: stored["GATEWAY_MANAGEMENT_KEY"] ?? newKey(),
    GATEWAY_API_KEY: stored["GATEWAY_API_KEY"] ?? newKey(),
  }
  const variables = {
    DEVELOPMENT_MANAGEMENT_KEY: values.GATEWAY_MANAGEMENT_KEY,
    DEVELOPMENT_API_KEY: values.GATEWAY_API_KEY,
  }
  const isSame = Object.entries(variables).every(([name, value]) => secrets[name] === value)
  if (isSame) return
  writeEnvFile(envFile, values)
  setVariables(devVars, variables)
  console.log("The keys for clients are in .dev.env; they work from the first request.")
}

/** `wrangler d1 migrations apply` starts a runtime for each migration, which takes half a minute in a new clone. */
async function migrateDatabase(stateDir: string): Promise<void> {
  if (isMigrated(stateDir, migrationNames().at(-1) ?? "")) return
  mkdirSync(stateDir, { recursive: true })
  await migrateState(await readDatabaseSpec(), "gateway", stateDir)
}

prepare().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
})
