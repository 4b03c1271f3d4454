import { DurableObject } from "cloudflare:workers"
import { executionContextOf } from "../../src/app/execution-context.ts"
import type { Env } from "../../src/config/env.ts"
import { acceptSession } from "../../src/inference/realtime/accept.ts"

/**
 * One per session: has the sockets of the client and of the provider, and stores nothing. An outgoing socket keeps an
 * object in memory, and its CPU limit is reset with each event, unlike that of a Worker request. If the object is lost,
 * both sockets close, and the ledger charges its holds.
 */
export class Realtime extends DurableObject<Env> {
  override async fetch(request: Request): Promise<Response> {
    return acceptSession(request, this.env, executionContextOf(this.ctx))
  }
}
