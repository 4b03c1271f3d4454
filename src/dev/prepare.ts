import { createHash, randomBytes } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import { lock } from "../local/lock.ts"
import { requireWritable, root } from "../local/paths.ts"
import { ancestorOf } from "../local/processes.ts"
import { ensureConsole } from "./console-build.ts"
import { ensureDevVars, readEnvFile, setVariables, writeEnvFile } from "./dev-vars.ts"
import { ensurePython } from "./python-build.ts"
import { runWrangler } from "./wrangler.ts"

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
  const locked = await lock(stateDir, ancestorOf(process.pid, "wrangler"))
  if ("reason" in locked) throw new Error(`${locked.reason} End npm start before you run wrangler dev.`)
  const devVars = path.join(root, ".dev.vars")
  const secrets = ensureDevVars(devVars)
  ensureKeys(secrets, devVars)
  await migrateState(stateDir)
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

/** wrangler takes seconds even if there is nothing to apply, so it runs only when the migrations have changed. */
async function migrateState(stateDir: string): Promise<void> {
  const folder = path.join(root, "d1-migrations")
  const hash = createHash("sha256")
  for (const name of readdirSync(folder).sort()) hash.update(name).update(readFileSync(path.join(folder, name)))
  const version = hash.digest("hex")
  const marker = path.join(stateDir, "migrated")
  if (existsSync(marker) && readFileSync(marker, "utf8") === version) return
  mkdirSync(stateDir, { recursive: true })
  await runWrangler(["d1", "migrations", "apply", "gateway", "--local", "--persist-to", stateDir])
  writeFileSync(marker, version)
}

prepare().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
})
