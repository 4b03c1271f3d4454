import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { readD1Migrations } from "@cloudflare/vitest-pool-workers"
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from "miniflare"
import { root } from "../../src/dev/options.ts"
import { modulesOf } from "../../src/local/bundle-modules.ts"
import { migrate, newBatchWorker } from "../../src/local/migrate.ts"
import { bundle } from "./bundle.ts"
import { PRICES } from "./upstream.ts"
import { eventually } from "../support/eventually.ts"
import { removeFolder } from "../support/remove-folder.ts"

export const BOOTSTRAP = "sk-gw-boot-of-the-runtime-suite-0123456789"

export type Row = { id: string; key_hash: string; cost_nano: number; ending: string; tokens: number }

export type Gateway = {
  url: string
  /** The log lines of the gateway. */
  logs: readonly string[]
  /** Output of the runtime: unhandled exceptions. */
  runtimeLogs: readonly string[]
  post: (key: string, resource: string, body: unknown) => Promise<Response>
  get: <T>(key: string, resource: string) => Promise<T>
  newOrganization: () => Promise<Organization>
  /** The generations of an organization in the database. */
  rows: (organizationId: string) => Promise<Row[]>
  /** Applies migrations up to this one; returns their names. */
  migrateTo: (newest: string) => Promise<string[]>
  /** Runs a statement of the test in the database. */
  execute: (statement: string) => Promise<void>
  /** The open holds of an organization in the ledger. */
  holds: (organizationId: string) => Promise<unknown[]>
  /** Nano-USD that isolates have declared of their leases: what the ledger charges if they are lost. */
  declaredNano: (organizationId: string) => Promise<number>
  /** kill -9; resolves when another runtime serves from the same folder. */
  killRuntime: () => Promise<void>
  /** The same in two steps: the first call finds the process, and the returned function kills it immediately. */
  aimAtRuntime: () => () => Promise<void>
  stop: () => Promise<void>
}

type Ledgers = {
  idFromName: (name: string) => unknown
  get: (id: unknown) => { holds: () => Promise<{ isLease: boolean; estimateNano: number }[]> }
}

export type Organization = { id: string; apiKey: string; managementKey: string }

/**
 * Another bundle than this release's, the newest migration that is applied at first, and a folder that outlives the
 * gateway.
 */
type Release = { script?: string; upTo?: string; state?: string; containers?: Containers }

/** The engine that runs the containers of interns, and the port at which they reach the gateway. */
export type Containers = { engine: string; port: number }

/** On a busy machine the runtime may report a port before it accepts connections there. */
async function untilListening(url: URL, runtimeLogs: readonly string[]): Promise<void> {
  await eventually(() => fetch(url).then((response) => response.body?.cancel())).catch((cause: unknown) => {
    throw new Error(`The runtime does not listen at ${url.host}:\n${runtimeLogs.slice(-20).join("\n")}`, { cause })
  })
}

/** The deployed bundle in workerd, with real D1, KV and Durable Objects in a folder, at its own socket. */
export async function startGateway(
  upstreamUrl: string,
  bindings: Record<string, string> = {},
  isConfined = false,
  { script = bundle, upTo = "9999", state, containers }: Release = {},
): Promise<Gateway> {
  const folder = state ?? mkdtempSync(path.join(tmpdir(), "gateway-runtime-"))
  const logs: string[] = []
  const runtimeLogs: string[] = []
  const providers = { CUSTOM_PROVIDERS: toProviders(upstreamUrl) }
  const miniflare = new Miniflare(
    toOptions(folder, { ...providers, ...bindings }, { logs, runtimeLogs, isConfined, script, containers }),
  )
  await miniflare.ready
  const migrator = await miniflare.unsafeGetDirectURL("migrator")
  await untilListening(migrator, runtimeLogs)
  const batch = migratorWorker.batchBy((init) => fetch(migrator, init))
  const migrateTo = async (newest: string) => {
    const known = await readD1Migrations(path.join(root, "d1-migrations"))
    const wanted = known.filter(({ name }) => name.slice(0, newest.length) <= newest)
    return migrate(
      batch,
      wanted.map(({ name, queries }) => ({ name, statements: queries })),
    )
  }
  await migrateTo(upTo)
  // The runtime restarts on the same port.
  const url = (await miniflare.unsafeGetDirectURL("gateway")).origin
  await untilListening(new URL("/health", url), runtimeLogs)

  const get = async <T>(key: string, resource: string): Promise<T> => {
    const response = await fetch(`${url}/api/v1${resource}`, { headers: { authorization: `Bearer ${key}` } })
    const text = await response.text()
    if (response.status !== 200) throw new Error(`GET ${resource}: ${response.status} ${text}`)
    return (JSON.parse(text) as { data: T }).data
  }
  const allHolds = async (organizationId: string) => {
    const ledgers = (await miniflare.getDurableObjectNamespace("LEDGER", "gateway")) as unknown as Ledgers
    return ledgers.get(ledgers.idFromName(organizationId)).holds()
  }
  const post = (key: string, resource: string, body: unknown) =>
    fetch(`${url}/api/v1${resource}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    })
  return {
    url,
    logs,
    runtimeLogs,
    get,
    post,
    newOrganization: async () => {
      const response = await post(BOOTSTRAP, "/organizations", { name: "Test", starting_balance_usd: 100 })
      if (response.status !== 201) throw new Error(`POST /organizations: ${response.status} ${await response.text()}`)
      type Made = { data: { id: string; api_key: string; management_key: string } }
      const { data } = (await response.json()) as Made
      return { id: data.id, apiKey: data.api_key, managementKey: data.management_key }
    },
    rows: async (organizationId) => {
      const db = await miniflare.getD1Database("DB", "gateway")
      const { results } = await db
        .prepare(
          `SELECT id, key_hash, cost_nano, record ->> 'ending' AS ending, record ->> '$.tokens.completion' AS tokens
           FROM generations WHERE organization_id = ?`,
        )
        .bind(organizationId)
        .all<Row>()
      return results
    },
    migrateTo,
    execute: async (statement) => {
      const db = await miniflare.getD1Database("DB", "gateway")
      await db.prepare(statement).run()
    },
    holds: async (organizationId) => (await allHolds(organizationId)).filter(({ isLease }) => !isLease),
    declaredNano: async (organizationId) =>
      (await allHolds(organizationId)).reduce((sum, hold) => sum + (hold.isLease ? hold.estimateNano : 0), 0),
    killRuntime: () => aimAtRuntime(url)(),
    aimAtRuntime: () => aimAtRuntime(url),
    stop: async () => {
      await miniflare.dispose()
      if (state === undefined) removeFolder(folder)
    },
  }
}

const migratorWorker = newBatchWorker()

/** `isConfined`: no request leaves this machine, whatever URL a client configures. */
type Outputs = {
  logs: string[]
  runtimeLogs: string[]
  isConfined: boolean
  script: string
  containers: Containers | undefined
}

const CONTAINER = { className: "InternContainer", useSQLite: true, container: { imageName: "intern:test" } }

const CONFINED = `export default {
  fetch(request) {
    const { hostname } = new URL(request.url)
    return hostname === "127.0.0.1" ? fetch(request) : new Response("No such host", { status: 502 })
  },
}`

function toOptions(
  folder: string,
  bindings: Record<string, string>,
  { logs, runtimeLogs, isConfined, script, containers }: Outputs,
) {
  const config = readFileSync(path.join(root, "wrangler.toml"), "utf8")
  return convertV4MiniflareOptions({
    host: "127.0.0.1",
    port: 0,
    cf: false,
    log: new Log(LogLevel.NONE),
    handleStructuredLogs: ({ message }) => {
      // The gateway's log lines are JSON; the runtime's are not.
      const isGateways = message.startsWith("{")
      if (isGateways) logs.push(message)
      else runtimeLogs.push(message)
    },
    resourcePersistencePath: folder,
    ...(containers && { containerEngine: containers.engine }),
    workers: [
      {
        name: "gateway",
        ...modulesOf(script),
        compatibilityDate: /^compatibility_date = "(.+)"$/m.exec(config)?.[1] ?? "",
        compatibilityFlags: ["enable_request_signal"],
        d1Databases: { DB: "gateway" },
        kvNamespaces: { CATALOG: "catalog" },
        r2Buckets: ["FILES"],
        durableObjects: {
          LEDGER: { className: "Ledger", useSQLite: true },
          INTERN: { className: "Intern", useSQLite: true },
          DELIVERY: { className: "Delivery", useSQLite: true },
          BATCH: { className: "Batch", useSQLite: true },
          REALTIME: { className: "Realtime", useSQLite: true },
          ...(containers && { INTERN_CONTAINER: CONTAINER }),
        },
        ...(isConfined && { outboundService: "confined", queueProducers: { BROADCAST: "broadcast" } }),
        unsafeDirectSockets: [{ host: "127.0.0.1", port: containers?.port ?? 0 }],
        bindings: {
          STAGE: "production",
          LOG_CALLS: "off",
          MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
          BOOTSTRAP_MANAGEMENT_KEY: BOOTSTRAP,
          ...(containers && { PUBLIC_URL: `http://127.0.0.1:${containers.port}` }),
          ...bindings,
        },
      },
      {
        name: "migrator",
        ...migratorWorker.options,
        d1Databases: { DB: "gateway" },
        unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
      },
      ...(isConfined ? [{ name: "confined", modules: true, script: CONFINED }] : []),
    ],
  })
}

/** Endpoint health is kept per endpoint, so a test uses a new model where that matters. */
const MODELS = 200
let taken = 0

export function newModel(): string {
  return `scripted/model-${taken++ % MODELS}`
}

export const PROVIDER_MODELS = Array.from({ length: MODELS }, (_, at) => ({
  id: `model-${at}`,
  ...PRICES,
  context_length: 1_000_000,
  max_completion_tokens: 100_000,
}))

function toProviders(baseUrl: string): string {
  const scripted = { slug: "scripted", name: "Scripted", base_url: baseUrl, api_key: "sk-scripted" }
  return JSON.stringify([{ ...scripted, models: PROVIDER_MODELS }])
}

/** The runtime started by this process. */
function runtimePid(): number {
  const processes = execFileSync("ps", ["-A", "-o", "pid=,ppid=,args="], { encoding: "utf8" }).split("\n")
  const children = processes
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .filter((match) => Number(match?.[2]) === process.pid && match?.[3]?.includes("workerd"))
  if (children.length !== 1) throw new Error(`${children.length} runtimes run under this process.`)
  return Number(children[0]?.[1])
}

function aimAtRuntime(url: string): () => Promise<void> {
  const aimed = runtimePid()
  return () => {
    process.kill(aimed, "SIGKILL")
    return eventuallyServes(url, aimed)
  }
}

const RESTART_TIMEOUT_MS = 60_000

async function eventuallyServes(url: string, killed: number): Promise<void> {
  const deadline = Date.now() + RESTART_TIMEOUT_MS
  while (Date.now() < deadline) {
    const isUp = await fetch(`${url}/health`).then(
      (response) => response.ok,
      () => false,
    )
    if (isUp && runtimePid() !== killed) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error("The runtime did not come back.")
}
