import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync } from "node:fs"
import path from "node:path"
import { root } from "../../src/dev/options.ts"

const VERSION = "1.18.33"

/**
 * The folder of the commands of a real agent. Its package holds the binary itself: too large to come along with every
 * install, so it is fetched from the registry when it is first wanted.
 */
export function installOpencode(): string {
  const home = path.join(root, ".wrangler/agents", VERSION)
  const commands = path.join(home, "node_modules/.bin")
  if (existsSync(path.join(commands, "opencode"))) return commands
  mkdirSync(home, { recursive: true })
  const options = ["--prefix", home, "--no-save", "--no-audit", "--no-fund"]
  // Its script puts the binary in place. npm run hands the options of this project on, which forbid scripts.
  const install = ["install", ...options, "--ignore-scripts=false", `opencode-ai@${VERSION}`]
  execFileSync("npm", install, { stdio: "pipe" })
  return commands
}
