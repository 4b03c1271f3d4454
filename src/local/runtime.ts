import path from "node:path"
import { setTimeout } from "node:timers/promises"
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare, type V4WorkerOptions } from "miniflare"
import { modulesOf } from "./bundle-modules.ts"
import { runCronTriggers } from "./crons.ts"
import { useClientSocket } from "./client-socket.ts"
import { PUBLIC_NETWORK, useDirectOutbound } from "./direct-outbound.ts"
import { type Database, migrate, proxiedBatch } from "./migrate.ts"
import { migrateState, persistencePath } from "./migrate-state.ts"
import { dist } from "./paths.ts"
import { pidsOf } from "./processes.ts"
import { readSpec, type Stage, type WorkerSpec } from "./spec.ts"

export type RuntimeOptions = {
  stage: Stage
  host: string
  port: number
  /** Databases, objects and files. Created if missing. */
  stateDir: string
  /** Secrets and variables; they override those of `wrangler.toml`. */
  bindings: Record<string, string>
  /** How long the end waits for running calls. A call that is cut is charged its estimate. */
  drainMs: number
  /** Port of the runtime's inspector, for debuggers on this machine only. */
  inspectorPort?: number | undefined
  /** Receives log lines of the Worker and the runtime. */
  onLog: (line: LogLine) => void
  /** The runtime crashed and was restarted, with these process ids. */
  onRestart: (pids: readonly number[]) => void
  /** The runtime could not be restarted after a crash. */
  onFatal: (reason: string) => void
}

export type LogLine = { level: string; message: string }

export type Runtime = {
  /** Process ids of workerd. */
  pids: () => number[]
  stop: () => Promise<void>
}

const GATEWAY = "gateway"
const EMBEDDED = "gateway-embedded"
const CONSOLE = "gateway-console"

/** A runtime that crashes this often within a minute is not restarted. */
const MAX_CRASHES = 5
const CRASH_WINDOW_MS = 60_000

/**
 * Runs the built Worker in workerd with durable storage, its queues and its crons. Clients reach the Worker by a
 * separate socket: the proxy that Miniflare puts in front of it doubles the cost of a call.
 */
export async function startRuntime(options: RuntimeOptions): Promise<Runtime> {
  const spec = readSpec()
  const crashes: number[] = []
  useDirectOutbound()
  const release = holdSignals()
  await migrateState(spec, GATEWAY, options.stateDir)
  // Only now: the runtime of the migration must not open the port.
  useClientSocket(GATEWAY, options)
  const miniflare = new Miniflare({
    ...toMiniflareOptions(spec, options),
    unsafeHandleRuntimeRestart: () => {
      const now = Date.now()
      crashes.push(now)
      while ((crashes[0] ?? now) < now - CRASH_WINDOW_MS) crashes.shift()
      if (crashes.length >= MAX_CRASHES) {
        options.onFatal(`The runtime crashed ${crashes.length} times in a minute.`)
        return
      }
      options.onRestart(runtimePids())
      options.onLog({ level: "warn", message: "The runtime crashed and was started again." })
    },
  })
  await miniflare.ready
  // Again, in case the database was replaced after its schema was recorded.
  const database: unknown = await miniflare.getD1Database("DB", GATEWAY)
  await migrate(proxiedBatch(database as Database), spec.migrations)
  const runCron = async (cron: string, scheduledTime: Date) => {
    // Miniflare's type of it lacks this method.
    const worker: unknown = await miniflare.getWorker(GATEWAY)
    await (worker as Scheduled).scheduled({ cron, scheduledTime })
  }
  const schedule = runCronTriggers(spec.crons, runCron)
  // Last: the caller then listens for signals, so that none ends this process and leaves the runtime.
  release()
  return {
    pids: runtimePids,
    stop: async () => {
      schedule.stop()
      await Promise.race([runCron(SHUTDOWN, new Date()).catch(() => undefined), setTimeout(options.drainMs)])
      await miniflare.dispose()
    },
  }
}

/** The trigger by which the Worker ends its calls: SHUTDOWN of src/app/shutdown.ts. */
const SHUTDOWN = "shutdown"

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const

/**
 * Delays signals, at which Miniflare would end the process before calls are settled. Returns a function that removes
 * the listeners.
 */
function holdSignals(): () => void {
  const before = new Map(SIGNALS.map((name) => [name, new Set(process.listeners(name))]))
  return () => {
    for (const name of SIGNALS) {
      for (const listener of process.listeners(name)) {
        if (!before.get(name)?.has(listener)) process.removeListener(name, listener)
      }
    }
  }
}

function runtimePids(): number[] {
  return pidsOf("workerd", process.pid)
}

function toMiniflareOptions(spec: WorkerSpec, options: RuntimeOptions) {
  const { compatibilityDate, compatibilityFlags } = spec.resources
  const common = {
    ...(compatibilityDate && { compatibilityDate }),
    ...(compatibilityFlags && { compatibilityFlags }),
  }
  const isDevelopment = options.stage === "development"
  const gateway: V4WorkerOptions = {
    ...spec.resources,
    ...common,
    name: GATEWAY,
    ...modulesOf(path.join(dist, "gateway/index.js")),
    bindings: { ...spec.vars[options.stage], ...options.bindings },
    serviceBindings: { ASSETS: CONSOLE, PUBLIC_NETWORK, ...(isDevelopment && { EMBEDDED }) },
  }
  const embedded: V4WorkerOptions = {
    ...common,
    name: EMBEDDED,
    ...(isDevelopment ? modulesOf(path.join(dist, "embedded/index.js")) : { modules: [] }),
  }
  // A separate Worker: Miniflare would put a router in front of every call to a Worker with assets.
  const console: V4WorkerOptions = {
    ...common,
    name: CONSOLE,
    modules: true,
    script: "export default { fetch: (request, env) => env.ASSETS.fetch(request) }",
    assets: { directory: path.join(dist, "console"), binding: "ASSETS" },
  }
  const { inspectorPort } = options
  return convertV4MiniflareOptions({
    ...(inspectorPort !== undefined && { inspectorPort, inspectorHost: "127.0.0.1" }),
    cf: false,
    port: 0,
    host: "127.0.0.1",
    log: new RuntimeLog(options),
    handleStructuredLogs: ({ level, message }) => options.onLog({ level, message }),
    resourcePersistencePath: persistencePath(options.stateDir),
    workers: [console, ...(isDevelopment ? [embedded] : []), gateway],
  })
}

/** Miniflare's own messages. */
class RuntimeLog extends Log {
  readonly #onLog: RuntimeOptions["onLog"]

  constructor({ onLog }: RuntimeOptions) {
    super(LogLevel.ERROR)
    this.#onLog = onLog
  }

  protected override log(message: string): void {
    this.#onLog({ level: "error", message })
  }
}

type Scheduled = { scheduled: (controller: { cron: string; scheduledTime: Date }) => Promise<unknown> }
