import { type ChildProcess, spawn } from "node:child_process"
import { createRequire } from "node:module"
import path from "node:path"
import { root } from "../options.ts"

export const shim = path.join(
  path.dirname(createRequire(import.meta.url).resolve("wrangler/package.json")),
  "bin/wrangler.js",
)

/** Without login, telemetry, update checks, or files outside of the project. */
const QUIET = {
  CI: "true",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  WRANGLER_HIDE_BANNER: "true",
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_WRITE_LOGS: "false",
  // Disables an explorer of the local database that every process of this computer could open.
  X_LOCAL_EXPLORER: "false",
  WRANGLER_REGISTRY_PATH: path.join(root, ".wrangler/registry"),
}

/** Runs wrangler with the current Node, since that in the PATH may be too old. In a separate process group. */
export function startWrangler(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, ["--no-warnings", shim, ...args], {
    cwd: root,
    env: { ...process.env, ...QUIET },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  })
}

/** Runs wrangler to its end; throws with all its output if it fails. */
export async function runWrangler(args: readonly string[]): Promise<void> {
  const child = startWrangler(args)
  let printed = ""
  child.stdout?.on("data", (text: Buffer) => (printed += text.toString()))
  child.stderr?.on("data", (text: Buffer) => (printed += text.toString()))
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve))
  if (code !== 0) throw new Error(`wrangler ${args.slice(0, 3).join(" ")} failed:\n${printed}`)
}

const TIMEOUT_MS = 5_000

/** Ends a started wrangler with all its child processes. */
export async function endWrangler(child: ChildProcess): Promise<void> {
  const { pid } = child
  if (pid === undefined) return
  const closed = child.exitCode !== null || child.signalCode !== null ? Promise.resolve() : once(child)
  signal(pid, "SIGTERM")
  await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, TIMEOUT_MS))])
  killWrangler(child)
}

/** Kills the complete process group, including processes that survived the first signal. */
export function killWrangler({ pid }: ChildProcess): void {
  if (pid !== undefined) signal(-pid, "SIGKILL")
}

function once(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => child.once("exit", () => resolve()))
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // The process has exited already.
  }
}
