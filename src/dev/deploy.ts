import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import path from "node:path"
import { ensureConsole } from "./console-build.ts"
import { shim } from "./wrangler.ts"
import { root } from "./options.ts"

/**
 * To production: the first deploy makes the resources; the migrations follow, each compatible with the code before it.
 * Arguments go to `wrangler deploy`; `--dry-run` builds without an account.
 */
const args = process.argv.slice(2)
const run = (...command: string[]) => {
  const { status } = spawnSync(process.execPath, ["--no-warnings", shim, ...command], { cwd: root, stdio: "inherit" })
  if (status !== 0) process.exit(status ?? 1)
}
/** A deploy makes every resource but queues, which it only looks for. */
function makeQueues(): void {
  const config = readFileSync(path.join(root, "wrangler.toml"), "utf8")
  const production = config.slice(config.indexOf("[env.production]"))
  for (const name of new Set([...production.matchAll(/^queue = "(.+)"$/gm)].map((match) => match[1] ?? ""))) {
    const known = spawnSync(process.execPath, ["--no-warnings", shim, "queues", "info", name], { cwd: root })
    if (known.status !== 0) run("queues", "create", name)
  }
}

await ensureConsole()
if (!args.includes("--dry-run")) makeQueues()
run("deploy", "--env", "production", "--minify", ...args)
if (!args.includes("--dry-run")) run("d1", "migrations", "apply", "gateway", "--env", "production", "--remote")
