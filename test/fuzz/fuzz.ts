import http from "node:http"
import { BOOTSTRAP, type Gateway, type Organization, startGateway } from "../runtime/gateway.ts"
import { Checker } from "./check.ts"
import { type Document, operationsOf, resolverOf } from "./document.ts"
import { Random } from "./random.ts"
import { type FuzzRequest, newRequest, toCurl } from "./requests.ts"
import { type Answer, send } from "./send.ts"
import { startFaultyUpstream } from "./upstream.ts"

export type Fault = { index: number; what: string; request: string; answer: string }
export type Report = { requests: number; statuses: Record<string, number>; faults: Fault[]; exceptions: string[] }

type Options = {
  seed: number
  count: number
  onProgress?: (sent: number) => void
  /** Stops after this many different faults. */
  most?: number
  /** Of another release, on the present schema. */
  script?: string | undefined
}

const CONCURRENCY = 8
/** Fewer than a run sends, so that deleted keys and spent balances do not end it. */
const REQUESTS_OF_AN_ORGANIZATION = 400
const MOST_IDS = 300
const CANARY = "sk-canary-of-the-fuzzer-0123456789"

const TIMEOUTS = {
  FIRST_FRAME_TIMEOUT_MS: "1000",
  IDLE_TIMEOUT_MS: "1000",
  EARLY_COMMIT_MS: "300",
  KEEPALIVE_MS: "200",
}

/** Sends generated requests to a separate gateway and collects every faulty response. */
export async function fuzz({ seed, count, onProgress, most = 20, script }: Options): Promise<Report> {
  const upstream = await startFaultyUpstream(seed)
  const gateway = await startGateway(upstream.baseUrl, TIMEOUTS, true, script === undefined ? {} : { script })
  const agent = new http.Agent({ keepAlive: true, maxSockets: CONCURRENCY })
  try {
    const document = (await (await fetch(`${gateway.url}/api/v1/openapi.json`)).json()) as Document
    const run = new Run(gateway, document, { seed, agent })
    let next = 0
    const work = async () => {
      while (next < count && run.kinds.size < most) {
        const index = next++
        await run.one(index)
        if (index % 500 === 499) onProgress?.(index + 1)
      }
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, work))
    return {
      requests: Math.min(next, count),
      statuses: run.statuses,
      faults: run.faults,
      exceptions: exceptionsOf(gateway),
    }
  } finally {
    agent.destroy()
    await gateway.stop()
    await upstream.close()
  }
}

function exceptionsOf({ runtimeLogs, logs }: Gateway): string[] {
  const uncaught = runtimeLogs.filter((line) => /uncaught|unhandled/i.test(line))
  const internal = logs.filter(
    (line) => line.includes('"level":"error"') && /TypeError|RangeError|SyntaxError|D1_ERROR|ReferenceError/.test(line),
  )
  const leaked = [...logs, ...runtimeLogs].filter((line) => line.includes(BOOTSTRAP) || line.includes(CANARY))
  return [...new Set([...uncaught, ...internal, ...leaked])].map((line) => line.slice(0, 1_000))
}

const CALLS =
  /^POST \/(chat\/completions|completions|models\/\{model\}:generateContent|responses|messages|embeddings|interns\/\{internId\}\/chat\/completions)$/

class Run {
  readonly faults: Fault[] = []
  readonly kinds = new Set<string>()
  readonly statuses: Record<string, number> = {}
  readonly #gateway: Gateway
  readonly #operations
  /** Operations that reach the provider. */
  readonly #calls
  readonly #resolve
  readonly #checker: Checker
  readonly #seed: number
  readonly #agent: http.Agent
  #tenants = new Map<number, Promise<Tenant>>()

  constructor(gateway: Gateway, document: Document, { seed, agent }: { seed: number; agent: http.Agent }) {
    this.#gateway = gateway
    this.#operations = operationsOf(document)
    this.#calls = this.#operations.filter(({ name }) => CALLS.test(name))
    this.#resolve = resolverOf(document)
    this.#checker = new Checker(document, [BOOTSTRAP, CANARY, "sk-scripted", Buffer.alloc(32, 7).toString("base64")])
    this.#seed = seed
    this.#agent = agent
  }

  async one(index: number): Promise<void> {
    const random = new Random(this.#seed * 1_000_003 + index)
    const tenant = await this.#tenantOf(index)
    const operation = random.pick(random.chance(0.25) ? this.#calls : this.#operations)
    const { ids, keys } = tenant
    const request = newRequest(operation, { random, ids, keys, resolve: this.#resolve })
    const answer = await send(this.#gateway.url, request, this.#agent)
    this.statuses[answer?.status ?? 0] = (this.statuses[answer?.status ?? 0] ?? 0) + 1
    if (answer && answer.status < 300) learnIds(tenant, answer.text)
    for (const what of this.#checker.faults(request, answer)) this.#report(index, what, request, tenant, answer)
  }

  #report(index: number, what: string, request: FuzzRequest, { names }: Tenant, answer: Answer | undefined): void {
    const kind = `${request.operation.name} ${what.replaceAll(/\d{4,}|"[^"]*"|\/\d+/g, "…")}`
    if (this.kinds.has(kind)) return
    this.kinds.add(kind)
    const shown = toCurl(request, this.#gateway.url, names)
    const command = shown.length > 6_000 ? `${shown.slice(0, 6_000)}… (${shown.length} characters)` : shown
    this.faults.push({
      index,
      what: `${request.operation.name}: ${what}`,
      request: command,
      answer: answer?.text.slice(0, 500) ?? "",
    })
  }

  #tenantOf(index: number): Promise<Tenant> {
    const at = Math.floor(index / REQUESTS_OF_AN_ORGANIZATION)
    const known = this.#tenants.get(at) ?? newTenant(this.#gateway)
    this.#tenants.set(at, known)
    return known
  }
}

type Tenant = { ids: string[]; keys: string[]; names: ReadonlyMap<string, string> }

/** Keys of every kind, and the credential that no response may contain. */
async function newTenant(gateway: Gateway): Promise<Tenant> {
  const organization: Organization = await gateway.newOrganization()
  const { managementKey, apiKey } = organization
  const key = async (kind: string) => {
    const response = await gateway.post(managementKey, "/keys", { name: kind, kind, limit: 5 })
    const made = (await response.json()) as { key?: string }
    return made.key ?? ""
  }
  const kinds = ["normal", "free_tier", "provisioning"]
  const others = await Promise.all(kinds.map(key))
  await (await gateway.post(managementKey, "/byok", { provider: "openai", key: CANARY })).text()
  const names = new Map([
    [managementKey, "MANAGEMENT_KEY"],
    [apiKey, "API_KEY"],
    [BOOTSTRAP, "BOOTSTRAP_MANAGEMENT_KEY"],
    ...others.map((one, at) => [one, `${kinds[at]?.toUpperCase()}_KEY`] as const),
  ])
  const often = [managementKey, managementKey, managementKey, managementKey, apiKey, apiKey, apiKey, BOOTSTRAP]
  return { ids: [organization.id], keys: [...often, ...others], names }
}

const ID = /"(?:\w*_?id|hash|slug|name)":"([^"\\]{2,100})"/g

function learnIds({ ids }: Tenant, text: string): void {
  for (const [, id = ""] of text.slice(0, 20_000).matchAll(ID)) {
    if (ids.includes(id)) continue
    ids.push(id)
    if (ids.length > MOST_IDS) ids.splice(1, 1)
  }
}
