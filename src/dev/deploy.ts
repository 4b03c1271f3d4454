import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import path from "node:path"
import { ensureConsole } from "./console-build.ts"
import { shim } from "./wrangler.ts"
import { root } from "./options.ts"

/**
 * To production: migrations, then the code. The first deploy makes the database, so its migrations follow it.
 * Arguments go to `wrangler deploy`; `--dry-run` builds without an account.
 */
const args = process.argv.slice(2)
const run = (...command: string[]) => {
  const { status } = spawnSync(process.execPath, ["--no-warnings", shim, ...command], { cwd: root, stdio: "inherit" })
  if (status !== 0) process.exit(status ?? 1)
}
const succeeds = (...command: string[]) =>
  spawnSync(process.execPath, ["--no-warnings", shim, ...command], { cwd: root }).status === 0

/** A deploy makes every resource but queues, which it only looks for. */
function makeQueues(): void {
  const config = readFileSync(path.join(root, "wrangler.toml"), "utf8")
  const production = config.slice(config.indexOf("[env.production]"))
  for (const name of new Set([...production.matchAll(/^queue = "(.+)"$/gm)].map((match) => match[1] ?? ""))) {
    if (!succeeds("queues", "info", name)) run("queues", "create", name)
  }
}

const isDryRun = args.includes("--dry-run")
const migrate = () => run("d1", "migrations", "apply", "gateway", "--env", "production", "--remote")
/** Migrations only add, so the release that runs works on the new schema, and the new one is not without it. */
const isMigratedFirst = !isDryRun && succeeds("d1", "info", "gateway", "--env", "production")

await ensureConsole()
if (!isDryRun) makeQueues()
if (isMigratedFirst) migrate()
run("deploy", "--env", "production", "--minify", ...args)
if (!isDryRun && !isMigratedFirst) migrate()
