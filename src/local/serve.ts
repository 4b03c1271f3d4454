import { mkdirSync } from "node:fs"
import path from "node:path"
import { parseArgs } from "node:util"
import { lock } from "./lock.ts"
import { newLinePrinter } from "./line-printer.ts"
import { formatLog, logFormatOf } from "./log-printer.ts"
import { bindingsOf } from "./bindings.ts"
import { hasBuild, readSpec } from "./spec.ts"
import { startRuntime } from "./runtime.ts"

const USAGE = `npm run serve -- [--port 8787] [--host 0.0.0.0] [--state /data] [--drain 8]
  --port   the port to listen on (PORT)
  --host   the address to listen on (HOST)
  --state  the folder of databases, objects and files (STATE_DIR)
  --drain  seconds that the end waits for running calls (DRAIN_SECONDS)
  --inspect  a port of this machine for the debugger of the runtime: heap snapshots, profiles

The gateway in production stage on one machine. Variables and secrets are read from the environment; NAME_FILE reads
NAME from a file. Run npm run build before.`

/** `npm run serve`: the deployed Worker on this machine, with durable storage and its crons. */
async function serve(argv: readonly string[]): Promise<void> {
  const { host, port, stateDir, drainMs, inspectorPort } = readOptions(argv)
  if (!hasBuild()) fail("There is no build. Run: npm run build")
  mkdirSync(stateDir, { recursive: true })
  const locked = await lock(path.join(stateDir, "gateway"))
  if ("reason" in locked) fail(`${locked.reason} Two gateways cannot share a state folder.`)
  const format = logFormatOf(process.stdout, process.env)
  const print = newLinePrinter(process.stdout)
  const runtime = await startRuntime({
    stage: "production",
    host,
    port,
    stateDir,
    drainMs,
    inspectorPort,
    bindings: bindingsOf(process.env, readSpec().names),
    onLog: (line) => print(formatLog(line, format)),
    onRestart: (pids) => locked.setRuntimes(pids),
    onFatal: fail,
  })
  locked.setRuntimes(runtime.pids())
  let isStopping = false
  const stop = async () => {
    if (isStopping) return
    isStopping = true
    await runtime.stop()
    process.exit(0)
  }
  for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => void stop())

  const local = `http://${host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host}:${port}`
  const health: { status: string; fault?: string } = await (await fetch(`${local}/health`)).json()
  if (health.fault !== undefined) {
    console.error(health.fault)
    await runtime.stop()
    process.exit(1)
  }
  console.log(
    formatLog({ level: "info", message: JSON.stringify({ level: "info", message: "ready", host, port }) }, format),
  )
}

type Options = { host: string; port: number; stateDir: string; drainMs: number; inspectorPort: number | undefined }

function readOptions(argv: readonly string[]): Options {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        port: { type: "string", default: process.env["PORT"] ?? "8787" },
        host: { type: "string", default: process.env["HOST"] ?? "0.0.0.0" },
        state: { type: "string", default: process.env["STATE_DIR"] ?? "/data" },
        drain: { type: "string", default: process.env["DRAIN_SECONDS"] ?? "8" },
        inspect: { type: "string" },
        help: { type: "boolean", default: false },
      },
    })
    if (values.help) {
      console.log(USAGE)
      process.exit(0)
    }
    const { inspect } = values
    const inspectorPort = inspect === undefined ? undefined : readPort("--inspect", inspect)
    return {
      host: values.host,
      port: readPort("--port", values.port),
      stateDir: path.resolve(values.state),
      drainMs: readSeconds("--drain", values.drain) * 1_000,
      inspectorPort,
    }
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`)
    process.exit(2)
  }
}

function readPort(option: string, text: string): number {
  const port = Number(text)
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new Error(`${option} must be from 1 to 65535`)
  return port
}

function readSeconds(option: string, text: string): number {
  const seconds = Number(text)
  if (!(seconds >= 0 && seconds <= 3_600)) throw new Error(`${option} must be from 0 to 3600 seconds`)
  return seconds
}

function fail(reason: string): never {
  console.error(reason)
  process.exit(1)
}

if (import.meta.main) {
  serve(process.argv.slice(2)).catch((error: unknown) => fail(error instanceof Error ? error.message : String(error)))
}
