import { mkdirSync, rmSync } from "node:fs"
import net from "node:net"
import path from "node:path"
import { setTimeout } from "node:timers/promises"
import { ensureBuild } from "./build/build.ts"
import { lock } from "../local/lock.ts"
import { newLinePrinter } from "../local/line-printer.ts"
import { formatLog, logFormatOf } from "../local/log-printer.ts"
import { requireWritable } from "../local/paths.ts"
import { type Runtime, startRuntime } from "../local/runtime.ts"
import { devVarsErrors, unknownNames } from "./check-config.ts"
import { ensureDevVars, writeEnvFile } from "./start/dev-vars.ts"
import { startMessage } from "./start/start-message.ts"
import { findLocalServers } from "./start/local-servers.ts"
import { type Options, readOptions, root } from "./options.ts"
import { providersOfShell } from "./start/shell-providers.ts"
import { discoverModels, ensureCatalogue, ensureKeys } from "./deploy/provision.ts"

/** Variables of the Worker that are read from the environment. */
const PASSED = "CONTENT_CHECKS EGRESS_TEST_HOSTS WEB_FETCH_DNS_URL OIDC_ISSUER OIDC_CLIENT_ID OIDC_CLIENT_SECRET".split(
  " ",
)

/** A file below the working directory by its relative path. */
function toRelativePath(file: string): string {
  const relative = path.relative(process.cwd(), file)
  return relative.startsWith("..") ? file : relative
}

/** `npm start`: the gateway with its embedded upstream, ready for calls. */
async function start(options: Options): Promise<void> {
  const { host, port, stateDir, envFile } = options
  requireWritable([root, path.dirname(envFile), path.dirname(stateDir)])
  const locked = await lock(stateDir)
  if ("reason" in locked) fail(`${locked.reason} Use another state directory: --state DIR`)
  if (await isTaken(host, port)) fail(`Port ${port} is in use. Choose another: npm start -- --port ${port + 213}`)
  if (options.fresh) rmSync(stateDir, { recursive: true, force: true })
  mkdirSync(stateDir, { recursive: true })
  const devVars = path.join(root, ".dev.vars")
  const secrets = ensureDevVars(devVars)
  const faults = devVarsErrors(devVars, secrets)
  if (faults.length > 0) fail(`The configuration is not valid.\n${faults.join("\n")}`)
  const unknown = unknownNames(secrets)
  if (unknown.length > 0) console.warn(`.dev.vars: the gateway does not read ${unknown.join(", ")}.`)
  const [servers] = await Promise.all([findLocalServers(port), ensureBuild()])

  const fromShell = providersOfShell(process.env, secrets)
  const format = logFormatOf(process.stdout, process.env)
  const print = newLinePrinter(process.stdout)
  const buffered: string[] = []
  let isReady = false
  const runtime = await startRuntime({
    stage: "development",
    host,
    port,
    stateDir,
    drainMs: DRAIN_MS,
    bindings: {
      ...fromShell,
      ...withoutUndefined(secrets),
      ...(servers.length > 0 && { LOCAL_PROVIDERS: JSON.stringify(servers) }),
      ...withoutUndefined(Object.fromEntries(PASSED.map((name) => [name, process.env[name]]))),
    },
    onLog: (line) => {
      const text = formatLog(line, format)
      if (isReady) print(text)
      else buffered.push(text)
    },
    onRestart: (pids) => locked.setRuntimes(pids),
    onFatal: (reason) => fail(`The gateway stopped. ${reason}`),
  })
  locked.setRuntimes(runtime.pids())
  endWith(runtime)

  const origin = `http://${host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host}:${port}`
  const baseUrl = `${origin}/api/v1`
  try {
    const bootstrapKey = secrets["BOOTSTRAP_MANAGEMENT_KEY"] ?? ""
    await requireHealth(origin)
    await ensureCatalogue(baseUrl, bootstrapKey, stateDir)
    const keys = await ensureKeys(baseUrl, bootstrapKey, envFile)
    writeEnvFile(envFile, {
      GATEWAY_URL: baseUrl,
      GATEWAY_MANAGEMENT_KEY: keys.management,
      GATEWAY_API_KEY: keys.normal,
    })
    const discovered = await discoverModels(baseUrl, bootstrapKey)
    isReady = true
    console.log(
      startMessage({
        baseUrl,
        keys,
        envFile: toRelativePath(envFile),
        servers,
        providers: discovered,
        fromShell: Object.keys(fromShell),
      }),
    )
  } catch (error) {
    for (const message of buffered) console.error(message)
    throw error
  }
}

function withoutUndefined(values: NodeJS.Dict<string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
  )
}

/** A runtime that was just killed releases its port a moment later. */
async function isTaken(host: string, port: number): Promise<boolean> {
  for (let tries = 0; tries < PORT_TRIES; tries++) {
    if (await canListen(host, port)) return false
    await setTimeout(100)
  }
  return true
}

const PORT_TRIES = 10

function canListen(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer()
    server.once("error", () => resolve(false))
    server.listen(port, host, () => server.close(() => resolve(true)))
  })
}

async function requireHealth(origin: string): Promise<void> {
  const response = await fetch(`${origin}/health`)
  const { fault } = (await response.json()) as { fault?: string }
  if (fault !== undefined) throw new Error(fault)
  if (!response.ok) throw new Error(`The gateway is not healthy: ${origin}/health returned ${response.status}.`)
}

/** Ends the runtime with this process: on signals, and if npm is killed. */
function endWith(runtime: Runtime): void {
  let ending = false
  const end = async (code: number) => {
    if (ending) return
    ending = true
    await Promise.race([runtime.stop(), setTimeout(STOP_TIMEOUT_MS)])
    process.exit(code)
  }
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(name, () => void end(name === "SIGINT" ? 130 : 143))
  process.on("exit", () => kill(runtime))
  process.on("uncaughtException", (error: Error & { code?: string }) => {
    // EPIPE: the terminal was closed.
    if (error.code !== "EPIPE") console.error(error)
    void end(1)
  })
  const parent = process.ppid
  setInterval(() => {
    if (process.ppid === parent || ending) return
    console.error("The gateway stops, because the process that started it has ended.")
    void end(0)
  }, 500).unref()
}

const DRAIN_MS = 5_000
const STOP_TIMEOUT_MS = 8_000

function kill(runtime: Runtime): void {
  for (const pid of runtime.pids()) {
    try {
      process.kill(pid, "SIGKILL")
    } catch {
      // It has ended already.
    }
  }
}

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}

start(readOptions(process.argv.slice(2), process.env)).catch((error: unknown) => {
  fail(error instanceof Error ? error.message : String(error))
})
