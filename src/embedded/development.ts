import type { Env } from "../config/env.ts"
import gateway, { Batch as BatchObject, Intern as InternObject, Realtime as RealtimeObject } from "../index.ts"
import embedded from "./index.ts"
import { ensureDevelopment } from "./provision.ts"

export { Delivery, InternContainer, Ledger } from "../index.ts"

/** Its agents also call models. */
export class Intern extends InternObject {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, withEmbedded(env))
  }
}

/** Its requests also call models. */
export class Batch extends BatchObject {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, withEmbedded(env))
  }
}

/** Its sessions also call models. */
export class Realtime extends RealtimeObject {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, withEmbedded(env))
  }
}

/**
 * The main module of `wrangler dev`: the gateway with the embedded upstream in it, and with a catalogue, an
 * organization and keys from the first request. `npm start` runs the embedded upstream as a separate Worker.
 */
export default {
  async fetch(request, env, context) {
    const bound = withEmbedded(env)
    await ensureDevelopment(bound, (setup) => gateway.fetch(setup, bound, context))
    return gateway.fetch(request, bound, context)
  },
  queue: (batch, env) => gateway.queue(batch, withEmbedded(env)),
  scheduled: (controller, env) => gateway.scheduled(controller, withEmbedded(env)),
} satisfies ExportedHandler<Env, Parameters<typeof gateway.queue>[0]["messages"][number]["body"]>

const bound = new WeakMap<Env, Env>()

/** One object for each `env`, by which the gateway caches parsed values. */
function withEmbedded(env: Env): Env {
  const cached = bound.get(env)
  if (cached) return cached
  const fetch = async (input: RequestInfo | URL, init?: RequestInit) => embedded.fetch(new Request(input, init))
  const extended = { ...env, EMBEDDED: { fetch } as Fetcher }
  bound.set(env, extended)
  return extended
}
