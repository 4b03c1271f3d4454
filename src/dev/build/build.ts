import { createHash, type Hash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import path from "node:path"
import { variables } from "../../config/variables.ts"
import { PROVIDER_VARIABLES } from "../../providers/table.ts"
import { SECRETS } from "../check-config.ts"
import { ensureConsole } from "./console-build.ts"
import { ensurePython } from "./python-build.ts"
import { runWrangler } from "../start/wrangler.ts"
import { dist, root } from "../../local/paths.ts"
import type { DatabaseSpec, Migration, WorkerSpec } from "../../local/spec.ts"

const SOURCES = [
  "README.md",
  "docs",
  "src",
  "src/dev/build/metered-wasm.ts",
  "durable-objects",
  "d1-migrations",
  "wrangler.toml",
  "package-lock.json",
]
/** Programs that run in Node, and the console, which has a separate build. */
const NOT_BUNDLED = ["src/dev", "src/local", "src/console", "src/daemon"].map((folder) => path.normalize(folder))
const MARKER = path.join(dist, "sources.sha256")

/** Builds the console, the Worker and the embedded upstream into `dist`, unless `dist` is up to date. */
export async function ensureBuild(): Promise<void> {
  await ensureConsole()
  const hash = createHash("sha256")
  for (const source of SOURCES) addTo(hash, source)
  const digest = hash.digest("hex")
  if (existsSync(MARKER) && readFileSync(MARKER, "utf8") === digest) return
  mkdirSync(dist, { recursive: true })
  ensurePython()
  rmSync(MARKER, { force: true })
  const [spec] = await Promise.all([
    readSpec(),
    bundle(["--env", "production", "--minify"], path.join(dist, "gateway")),
    bundle(["-c", "src/embedded/wrangler.toml"], path.join(dist, "embedded")),
  ])
  writeFileSync(path.join(dist, "worker.json"), JSON.stringify(spec))
  writeFileSync(MARKER, digest)
}

async function bundle(args: readonly string[], outdir: string): Promise<void> {
  rmSync(outdir, { recursive: true, force: true })
  await runWrangler(["deploy", ...args, "--dry-run", "--outdir", outdir])
  // The runtime would keep it in memory, at three times the size of the bundle.
  rmSync(path.join(outdir, "index.js.map"), { force: true })
}

const config = path.join(root, "wrangler.toml")

/** It takes a second to load, which a start without a build need not spend. */
async function loadWrangler() {
  process.env["WRANGLER_LOG"] ??= "error"
  return import("wrangler")
}

/** The local database of `wrangler dev`. */
export async function readDatabaseSpec(): Promise<DatabaseSpec> {
  const wrangler = await loadWrangler()
  return { resources: resourcesOf(wrangler), migrations: readMigrations(wrangler.unstable_splitSqlQuery) }
}

function resourcesOf(wrangler: Awaited<ReturnType<typeof loadWrangler>>): WorkerSpec["resources"] {
  const { workerOptions } = wrangler.unstable_getMiniflareWorkerOptions(config)
  // The bindings contain the secrets of .dev.vars.
  const { bindings: _, modulesRules: __, serviceBindings: ___, assets: ____, ...resources } = workerOptions
  return resources
}

/** The bindings at wrangler.toml's top level; the stages differ only in variables. */
async function readSpec(): Promise<WorkerSpec> {
  const wrangler = await loadWrangler()
  const development = wrangler.unstable_readConfig({ config })
  const production = wrangler.unstable_readConfig({ config, env: "production" })
  return {
    resources: resourcesOf(wrangler),
    crons: development.triggers.crons ?? [],
    vars: { development: textsOf(development.vars), production: textsOf(production.vars) },
    names: [...Object.keys(variables), ...SECRETS, ...PROVIDER_VARIABLES],
    migrations: readMigrations(wrangler.unstable_splitSqlQuery),
  }
}

function textsOf(vars: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(Object.entries(vars).map(([name, value]) => [name, String(value)]))
}

const migrationFolder = path.join(root, "d1-migrations")

/** File names in the order in which they are applied. */
export function migrationNames(): string[] {
  return readdirSync(migrationFolder)
    .filter((name) => name.endsWith(".sql"))
    .sort()
}

function readMigrations(split: (sql: string) => string[]): Migration[] {
  return migrationNames().map((name) => ({
    name,
    statements: split(readFileSync(path.join(migrationFolder, name), "utf8")),
  }))
}

function addTo(hash: Hash, source: string): void {
  if (NOT_BUNDLED.includes(source)) return
  const full = path.join(root, source)
  if (statSync(full).isFile()) {
    hash.update(source).update("\0").update(readFileSync(full))
    return
  }
  for (const name of readdirSync(full).sort()) addTo(hash, path.join(source, name))
}

if (import.meta.main) await ensureBuild()
