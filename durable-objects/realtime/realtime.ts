import { DurableObject } from "cloudflare:workers"
import { executionContextOf } from "../../src/app/execution-context.ts"
import type { Env } from "../../src/config/env.ts"
import { acceptSession } from "../../src/inference/realtime/accept.ts"

/**
 * One per session, for as long as it lasts: holds the sockets of the client and of the provider. It stores nothing. An
 * outgoing socket keeps an object in memory, and its CPU limit counts anew with each event, which that of a Worker's
 * request does not. If the object is lost, both sides see their sockets close, and the ledger charges its holds.
 */
export class Realtime extends DurableObject<Env> {
  override async fetch(request: Request): Promise<Response> {
    return acceptSession(request, this.env, executionContextOf(this.ctx))
  }
}
