import type { ChildProcess } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import net from "node:net"
import path from "node:path"
import { devVarsFaults, unknownNames } from "./check-config.ts"
import { ensureConsole } from "./console-build.ts"
import { ensureDevVars, writeEnvFile } from "./dev-vars.ts"
import { findLocalServers } from "./local-servers.ts"
import { type Options, readOptions, root } from "./options.ts"
import { ensureCatalogue, ensureKeys, type Keys } from "./provision.ts"
import { endWrangler, killWrangler, runWrangler, startWrangler } from "./wrangler.ts"

/** Variables of the Worker that are taken from the environment. */
const PASSED = ["EGRESS_TEST_HOSTS", "WEB_FETCH_DNS_URL"]

/** `npm start`: the gateway with its embedded upstream, ready to be called. */
async function start(options: Options): Promise<void> {
  const { port, stateDir, envFile } = options
  if (await isTaken(port)) fail(`Port ${port} is in use. Choose another: npm start -- --port ${port + 213}`)
  lock(stateDir)
  if (options.fresh) rmSync(stateDir, { recursive: true, force: true })
  mkdirSync(stateDir, { recursive: true })
  const devVars = path.join(root, ".dev.vars")
  const secrets = ensureDevVars(devVars)
  const faults = devVarsFaults(devVars, secrets)
  if (faults.length > 0) fail(`The configuration is not valid.\n${faults.join("\n")}`)
  const unknown = unknownNames(secrets)
  if (unknown.length > 0) console.warn(`.dev.vars: the gateway does not read ${unknown.join(", ")}.`)
  const [servers] = await Promise.all([findLocalServers(port), migrate(stateDir), ensureConsole()])

  const child = startWrangler([
    "dev",
    "-c=wrangler.toml",
    "-c=src/embedded/wrangler.toml",
    `--port=${port}`,
    `--persist-to=${stateDir}`,
    "--show-interactive-dev-session=false",
    ...(servers.length > 0 ? ["--var", `LOCAL_PROVIDERS:${JSON.stringify(servers)}`] : []),
    ...PASSED.flatMap((name) => (process.env[name] === undefined ? [] : ["--var", `${name}:${process.env[name]}`])),
  ])
  endWith(child)
  const output = collect(child)
  const origin = `http://127.0.0.1:${port}`
  await ready(child, origin, output)

  const baseUrl = `${origin}/api/v1`
  const bootstrapKey = secrets["BOOTSTRAP_MANAGEMENT_KEY"] ?? ""
  await ensureCatalogue(baseUrl, bootstrapKey, stateDir)
  const keys = await ensureKeys(baseUrl, bootstrapKey, envFile)
  writeEnvFile(envFile, { GATEWAY_URL: baseUrl, GATEWAY_MANAGEMENT_KEY: keys.management, GATEWAY_API_KEY: keys.normal })
  greet(
    baseUrl,
    keys,
    servers.map(({ name, models }) => `${name} (${models.length} models)`),
  )
  output.follow()
}

/** Two runtimes on one state would each spend the money that the other holds. The lock file is next to the folder. */
function lock(stateDir: string): void {
  const file = `${stateDir}.lock`
  mkdirSync(path.dirname(file), { recursive: true })
  const owner = existsSync(file) ? Number(readFileSync(file, "utf8")) : 0
  if (owner > 0 && isAlive(owner))
    fail(`${stateDir} is in use by process ${owner}. Give this one a state of its own: --state DIR`)
  writeFileSync(file, String(process.pid))
  process.on("exit", () => rmSync(file, { force: true }))
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return pid !== process.pid
  } catch {
    return false
  }
}

/** wrangler takes seconds to find nothing to apply, so it runs only when the migrations have changed. */
async function migrate(stateDir: string): Promise<void> {
  const folder = path.join(root, "d1-migrations")
  const digest = createHash("sha256")
  for (const name of readdirSync(folder).sort()) digest.update(name).update(readFileSync(path.join(folder, name)))
  const marker = path.join(stateDir, "migrated")
  const version = digest.digest("hex")
  if (existsSync(marker) && readFileSync(marker, "utf8") === version) return
  await runWrangler([
    "d1",
    "migrations",
    "apply",
    "gateway",
    "--local",
    "-c",
    "wrangler.toml",
    "--persist-to",
    stateDir,
  ])
  writeFileSync(marker, version)
}

function isTaken(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1")
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false))
    socket.once("close", () => socket.destroy())
    socket.once("connect", () => socket.end())
  })
}

const START_TIMEOUT_MS = 60_000

async function ready(child: ChildProcess, origin: string, output: Output): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS
  while (Date.now() < deadline && child.exitCode === null) {
    const health = await fetch(`${origin}/health`).then(
      async (response) => ({ isOk: response.ok, ...((await response.json()) as { fault?: string }) }),
      () => undefined,
    )
    if (health?.fault !== undefined) fail(health.fault)
    if (health?.isOk) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  fail(`The gateway did not start.\n${output.soFar()}`)
}

type Output = { soFar: () => string; follow: () => void }

/** What wrangler prints is kept until the start is over, so that the greeting is all there is to see. */
function collect(child: ChildProcess): Output {
  let kept = ""
  let following = false
  const take = (text: Buffer) => {
    if (following) process.stdout.write(text)
    else kept += text.toString()
  }
  child.stdout?.on("data", take)
  child.stderr?.on("data", take)
  return { soFar: () => kept, follow: () => (following = true) }
}

/** Ends wrangler with this process: on signals, and if npm is killed. */
function endWith(child: ChildProcess): void {
  let ending = false
  const end = async (code: number) => {
    if (ending) return
    ending = true
    await endWrangler(child)
    process.exit(code)
  }
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(name, () => void end(name === "SIGINT" ? 130 : 143))
  // Any exit of this process, by an error or a closed terminal, ends wrangler.
  process.on("exit", () => killWrangler(child))
  process.on("uncaughtException", (error: Error & { code?: string }) => {
    if (error.code !== "EPIPE") console.error(error)
    void end(1)
  })
  const parent = process.ppid
  setInterval(() => {
    if (process.ppid !== parent) void end(0)
  }, 500).unref()
  child.once("exit", (code) => {
    if (!ending) console.error(`The gateway stopped (exit code ${code}).`)
    void end(code ?? 1)
  })
}

function greet(baseUrl: string, keys: Keys, servers: readonly string[]): void {
  const body = `{"model":"sim/echo","messages":[{"role":"user","content":"Hello"}],"stream":true}`
  console.log(`
The gateway is ready.

  Base URL         ${baseUrl}
  API key          ${keys.normal}
  Management key   ${keys.management}
  API document     ${baseUrl}/openapi.json
  Models           ${baseUrl}/models${servers.length > 0 ? `\n  Found here       ${servers.join(", ")}` : ""}

  curl -N ${baseUrl}/chat/completions \\
    -H "Authorization: Bearer ${keys.normal}" \\
    -H "Content-Type: application/json" \\
    -d '${body}'

Keys are in .dev.env, secrets in .dev.vars. Ctrl-C ends it.
`)
}

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}

start(readOptions(process.argv.slice(2))).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  process.kill(process.pid, "SIGTERM")
})
