import type { Handler } from "hono"
import type { App } from "../access/app.ts"
import type { Env } from "../config/env.ts"
import { SCHEMA_MESSAGE } from "../errors/errors.ts"
import { openLedger } from "../ledger/client.ts"
import { loadCatalogue } from "../models/compile.ts"
import { hasMigration } from "../organizations/store.ts"
import { jurisdictionError } from "../organizations/jurisdiction.ts"
import { ExpiringMap } from "../support/time/expiring-map.ts"
import { logError } from "../support/log.ts"
import { valueOrTimeout } from "../support/time/time.ts"
import { configError } from "./configuration.ts"
import { LATEST_MIGRATION } from "./schema-version.ts"

/**
 * Liveness: the isolate runs and its configuration parses. Calls nothing, so a failing dependency causes no restart.
 */
export const healthHandler: Handler<App> = async (c) => {
  if (c.req.query("deep") !== undefined) return readyHandler(c, async () => {})
  const fault = configError(c.env)?.message
  if (fault !== undefined) return c.json({ status: "unconfigured", fault }, 503)
  return c.json({ status: "ok" }, 200)
}

type State = "ok" | "unavailable" | "absent" | "behind"

/** Readiness details that need no key. Contains no secret. */
type Readiness = {
  status: "ready" | "unconfigured" | "not_ready"
  /** Why calls cannot succeed, for the operator. */
  fault?: string
  components: Record<string, State>
}

/** Needs no key, so a flood of requests must not reach the dependencies. */
const CACHE_MS = 5_000
/** Failures are cached for a shorter time, so that a recovery shows quickly. */
const FAILURE_CACHE_MS = 500
const TIMEOUT_MS = 2_000
const cache = new ExpiringMap<Env, Readiness>(1)

/** Readiness: whether a call would succeed. Reads every dependency of a call once. */
export const readyHandler: Handler<App> = async (c) => {
  const now = Date.now()
  const cached = cache.get(c.env, now)
  const readiness = cached ? cached.value : await probe(c.env)
  const isReady = readiness.status === "ready"
  if (!cached) cache.set(c.env, readiness, now + (isReady ? CACHE_MS : FAILURE_CACHE_MS))
  return c.json(readiness, isReady ? 200 : 503)
}

async function probe(env: Env): Promise<Readiness> {
  const [schema, catalogue, ledger, files, jurisdiction] = await Promise.all([
    within(async () => ((await hasMigration(env.DB, LATEST_MIGRATION)) ? "ok" : "behind")),
    within(async () => ((await loadCatalogue(env)) === undefined ? "unavailable" : "ok")),
    within(async () => {
      await openLedger(env, "readiness").balance()
      return "ok"
    }),
    within(async () => {
      await env.FILES.head("readiness")
      return "ok"
    }),
    // The schema probe reports a database that does not respond, or has no such table yet.
    valueOrTimeout(jurisdictionError(env), TIMEOUT_MS).catch(() => undefined),
  ])
  const bound = (binding: unknown): State => (binding === undefined ? "absent" : "ok")
  const components: Readiness["components"] = {
    database: schema === "unavailable" ? "unavailable" : "ok",
    schema,
    catalogue,
    ledger,
    files,
    queue: bound(env.BROADCAST),
    rate_limiter: bound(env.RATE),
    metrics: bound(env.METRICS),
  }
  const fault = configError(env)?.message ?? jurisdiction
  if (fault !== undefined) return { status: "unconfigured", fault, components }
  const failing = [schema, catalogue, ledger, files].some((state) => state !== "ok") || components["queue"] !== "ok"
  if (!failing) return { status: "ready", components }
  return { status: "not_ready", ...(schema === "behind" && { fault: SCHEMA_MESSAGE }), components }
}

async function within(read: () => Promise<State>): Promise<State> {
  const state = read().catch((cause: unknown) => {
    logError("readiness probe failed", {}, cause)
    return "unavailable" as const
  })
  return (await valueOrTimeout(state, TIMEOUT_MS)) ?? "unavailable"
}
