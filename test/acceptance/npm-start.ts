import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import path from "node:path"
import { readEnvFile } from "../../src/dev/start/dev-vars.ts"
import { root } from "../../src/dev/options.ts"
import { familyOf, runningProcesses } from "../../src/local/processes.ts"
import { eventually } from "../support/eventually.ts"
import { findFreePort } from "../support/free-port.ts"

export type Started = {
  url: string
  managementKey: string
  apiKey: string
  /** Output so far. */
  printed: () => string
  process: ChildProcess
  /** Ids of the process and of all that it started. */
  family: number[]
}

const GREETING = "Ctrl-C ends it."
const START_TIMEOUT_MS = 80_000

/** Runs `npm start` until it is ready. `by` runs it: this Node, or a shell above it. */
export async function npmStart(
  state: string,
  by: (args: readonly string[]) => ChildProcess = byNode,
  chosen?: number,
): Promise<Started> {
  const port = chosen ?? (await findFreePort())
  const child = by(["--port", String(port), "--state", state])
  const printed = collect(child)
  await eventually(() => {
    if (child.exitCode !== null) return
    if (!printed().includes(GREETING)) throw new Error(`No greeting yet.\n${printed()}`)
  }, START_TIMEOUT_MS)
  if (child.exitCode !== null) throw new Error(`npm start exited with ${child.exitCode}.\n${printed()}`)
  const env = readEnvFile(path.join(state, ".dev.env"))
  return {
    url: env["GATEWAY_URL"] ?? "",
    managementKey: env["GATEWAY_MANAGEMENT_KEY"] ?? "",
    apiKey: env["GATEWAY_API_KEY"] ?? "",
    printed,
    process: child,
    family: familyOf(child.pid ?? 0),
  }
}

export function byNode(args: readonly string[], more: NodeJS.ProcessEnv = {}): ChildProcess {
  const stdio = ["ignore" as const, "pipe" as const, "pipe" as const]
  const options = { cwd: root, env: { ...withoutProviders(), ...more }, stdio }
  return spawn(process.execPath, ["src/dev/start.ts", ...args], options)
}

/**
 * The environment without the provider keys of the person who runs the tests, and without their additional certificates:
 * Miniflare copies its configuration for each, which takes a second if it is the bundle of a system.
 */
export function withoutProviders(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/_(?:API_KEY|BASE_URL)$|^NODE_EXTRA_CA_CERTS$/.test(name)),
  )
}

/** The command after it keeps the shell from replacing itself with the process. */
export function byShell(args: readonly string[]): ChildProcess {
  const command = '"$0" src/dev/start.ts "$@"; true'
  return spawn("sh", ["-c", command, process.execPath, ...args], { cwd: root, stdio: ["ignore", "pipe", "pipe"] })
}

/** Runs until it exits without becoming ready. */
export async function failingNpmStart(port: number, state: string): Promise<{ code: number | null; printed: string }> {
  const child = byNode(["--port", String(port), "--state", state])
  const printed = collect(child)
  const [code] = (await once(child, "close")) as [number | null]
  return { code, printed: printed() }
}

/** Signals the process only; settles when no process of its family is left, or reports which is. */
export async function end(started: Started, signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
  started.process.kill(signal)
  await gone(started)
}

/** Waits for no process to be left, whether or not the first one has reported its exit. */
export async function gone({ family }: Started): Promise<void> {
  await eventually(() => {
    const left = runningProcesses(family)
    if (left.length > 0) throw new Error(`Still there: ${left.join("\n")}`)
  })
}

function collect(child: ChildProcess): () => string {
  let printed = ""
  child.stdout?.on("data", (text: Buffer) => (printed += text.toString()))
  child.stderr?.on("data", (text: Buffer) => (printed += text.toString()))
  return () => printed
}
