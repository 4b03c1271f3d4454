import { execFile } from "node:child_process"
import { existsSync, mkdirSync } from "node:fs"
import path from "node:path"
import { promisify } from "node:util"
import { root } from "../../src/dev/options.ts"

type Package = { name: string; version: string; command: string; runsScripts?: boolean }

/**
 * The folder of the commands of a program that users have. Such packages are too large for every install, so each is
 * fetched from the registry at its first use. That takes some seconds, in which idle connections of a test may be closed:
 * the process has to notice that.
 */
export async function installPackage({ name, version, command, runsScripts = false }: Package): Promise<string> {
  const home = path.join(root, ".wrangler/agents", `${command}-${version}`)
  const commands = path.join(home, "node_modules/.bin")
  if (existsSync(path.join(commands, command))) return commands
  mkdirSync(home, { recursive: true })
  const options = ["--prefix", home, "--no-save", "--no-audit", "--no-fund"]
  // `npm run` passes the options of this project, which disable install scripts.
  const install = ["install", ...options, `--ignore-scripts=${!runsScripts}`, `${name}@${version}`]
  await promisify(execFile)("npm", install)
  return commands
}

/** Its script installs the binary. */
export function installOpencode(): Promise<string> {
  return installPackage({ name: "opencode-ai", version: "1.18.33", command: "opencode", runsScripts: true })
}

export function installCodex(): Promise<string> {
  return installPackage({ name: "@openai/codex", version: "0.169.0", command: "codex" })
}

/** Its script installs the binary. */
export function installClaude(): Promise<string> {
  return installPackage({ name: "@anthropic-ai/claude-code", version: "2.1.332", command: "claude", runsScripts: true })
}

export function installInspector(): Promise<string> {
  return installPackage({ name: "@modelcontextprotocol/inspector", version: "2.12.0", command: "inspector" })
}
