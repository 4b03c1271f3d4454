import { spawnSync } from "node:child_process"
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
run("deploy", "--env", "production", "--minify", ...args)
if (!args.includes("--dry-run")) run("d1", "migrations", "apply", "gateway", "--env", "production", "--remote")
