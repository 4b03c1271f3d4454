import type { Handler } from "hono"
import type { Env } from "../config/env.ts"
import type { App } from "../access/app.ts"
import { loadCatalogue } from "../models/compile.ts"
import { canRead } from "../organizations/store.ts"
import { ExpiringMap } from "../support/expiring-map.ts"
import { wait } from "../support/time.ts"
import { configError } from "./configuration.ts"

/**
 * What a monitor may know without a key: whether this answers, and what stands behind it. Nothing of it is a secret.
 */
type Health = {
  status: "ok" | "unconfigured" | "unavailable"
  /** What keeps the gateway from serving, in words for its operator. */
  fault?: string
  components: Record<string, "ok" | "unavailable" | "absent">
}

/** Needs no key, so a flood of requests must not reach the database. */
const REMEMBERED_MS = 5_000
/** What is wrong is remembered for less. */
const LESS_MS = 500
const TIMEOUT_MS = 2_000
const cache = new ExpiringMap<Env, Health>(1)

export const healthHandler: Handler<App> = async (c) => {
  const now = Date.now()
  const cached = cache.get(c.env, now)
  const health = cached ? cached.value : await probe(c.env)
  if (!cached) cache.set(c.env, health, now + (health.status === "ok" ? REMEMBERED_MS : LESS_MS))
  return c.json(health, health.status === "ok" ? 200 : 503)
}

async function probe(env: Env): Promise<Health> {
  const fault = configError(env)?.message
  const [database, catalogue] = await Promise.all([
    passesWithin(() => canRead(env.DB)),
    passesWithin(async () => (await loadCatalogue(env)) !== undefined),
  ])
  const bound = (binding: unknown) => (binding === undefined ? "absent" : "ok")
  const components = {
    database: database ? "ok" : "unavailable",
    catalogue: catalogue ? "ok" : "unavailable",
    files: bound(env.FILES),
    ledger: bound(env.LEDGER),
    broadcast: bound(env.BROADCAST),
    rate_limiter: bound(env.RATE),
    metrics: bound(env.METRICS),
  } as const
  if (fault !== undefined) return { status: "unconfigured", fault, components }
  return { status: database ? "ok" : "unavailable", components }
}

/** In time, and true. */
async function passesWithin(probe: () => Promise<boolean>): Promise<boolean> {
  const answer = probe().catch(() => false)
  return (await Promise.race([answer, wait(TIMEOUT_MS)])) ?? false
}
