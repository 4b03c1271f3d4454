import { type Actor, newEntry } from "../audit/entry.ts"
import { insertAudit } from "../audit/store.ts"
import { GatewayError } from "../errors/errors.ts"
import { configOf } from "../config/config.ts"
import type { Env } from "../config/env.ts"
import { networkOf } from "../outbound/settings.ts"
import { logError } from "../support/log.ts"
import type { EgressDeps } from "./egress-fetch.ts"
import type { ReleasedSecret } from "./secret.ts"

type EgressContext = {
  intern: { id: string; workspaceId: string }
  actor: Actor
  secrets: () => Promise<readonly ReleasedSecret[]>
  signal: AbortSignal
  waitUntil: (work: Promise<unknown>) => void
}

/** Dependencies for requests with secrets, the same for every agent host. */
export function egressDepsOf(env: Env, { intern, actor, secrets, signal, waitUntil }: EgressContext): EgressDeps {
  const send: typeof fetch = (...one) => fetch(...one)
  return {
    ...networkOf(env, send),
    fetch: send,
    secrets,
    signal,
    testHosts: egressTestHosts(env),
    onRelease: (names, host) => {
      for (const name of names) {
        if (!gate.take(`${intern.id}/${host}/${name}`, actor.at)) continue
        const changed = { fields: ["name", "host"], values: { name, host } }
        const event = { resourceId: intern.id, workspaceId: intern.workspaceId, changed }
        const entry = newEntry(actor, { action: "vault_secret.release", ...event })
        const work = insertAudit(env.DB, entry)
        waitUntil(work.catch((cause: unknown) => logError("release of a secret was not recorded", {}, cause)))
      }
    },
  }
}

const MINUTE_MS = 60_000
const MAX_USES = 10_000

/** Limits audit entries to one per secret, host, minute and isolate: an agent may send thousands of requests. */
export class ReleaseGate {
  #minute = -1
  readonly #seen = new Set<string>()

  take(use: string, now: number): boolean {
    const minute = Math.floor(now / MINUTE_MS)
    if (minute !== this.#minute) {
      this.#minute = minute
      this.#seen.clear()
    }
    if (this.#seen.has(use) || this.#seen.size >= MAX_USES) return false
    this.#seen.add(use)
    return true
  }
}

const gate = new ReleaseGate()

const RULE = `EGRESS_TEST_HOSTS: must be a JSON object of hosts and origins, {"api.example.com":"https://localhost:8443"}`

/** Development only: local servers that replace the hosts of secrets. Their certificates are verified. */
export function egressTestHosts(env: Env): ReadonlyMap<string, string> {
  const json = configOf(env).EGRESS_TEST_HOSTS
  if (json === undefined) return new Map()
  if (env.STAGE !== "development") throw new GatewayError("misconfigured", "EGRESS_TEST_HOSTS: is for development.")
  try {
    const hosts = Object.entries(JSON.parse(json) as Record<string, unknown>)
    const origins = hosts.map(([host, origin]): [string, string] => [host, new URL(String(origin)).origin])
    if (origins.every(([, origin]) => origin.startsWith("https://"))) return new Map(origins)
  } catch {
    // Rejected below.
  }
  throw new GatewayError("misconfigured", `${RULE}.`)
}
