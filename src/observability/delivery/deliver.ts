import type { Env } from "../../config/env.ts"
import { type Outbound, type OutboundResult, sendOutbound } from "../../outbound/send.ts"
import { outboundDeps } from "../../outbound/settings.ts"
import { masterKeysOf } from "../../secrets/master-key.ts"
import { openSealed } from "../../secrets/workspace-key.ts"
import { logError } from "../../support/log.ts"
import { secretsAad, toConfigured, withoutSecrets } from "../destination.ts"
import type { ExportEvent } from "../event.ts"
import type { Configured } from "../kinds.ts"
import { toOutbound } from "../send/request.ts"
import { dataKeyOf, type KeyedRow } from "../store.ts"

/**
 * Result of a delivery. `message`: shown to users, without secrets and without text from the destination.
 * `retryAfterMs`: the destination's Retry-After.
 */
export type Outcome = {
  isTaken: boolean
  status: number | null
  message: string
  excerpt: string
  retryAfterMs: number
}

type DeliveryRequest = {
  id: string
  events: readonly ExportEvent[]
  env: Env
  now: number
}

/** Attempts a delivery once. `id` is the same in every attempt. Secrets are decrypted only here. */
export async function deliver(row: KeyedRow, { id, events, env, now }: DeliveryRequest): Promise<Outcome> {
  const aad = secretsAad(row)
  const secret = await openSealed({ aad, sealed: row.sealed, dataKey: dataKeyOf(row) }, masterKeysOf(env))
  if (secret === undefined)
    return rejectedOutcome("its secrets could not be decrypted: they were sealed under another MASTER_KEY")
  const configured = toConfigured(row, secret)
  try {
    const outbound = await toOutbound(configured, { id, events, flags: row, now })
    return toOutcome(await sendOutbound(outbound, outboundDeps(env)), configured, outbound)
  } catch (cause) {
    logError("a delivery could not be built", { destination: row.id, kind: row.type }, nameOf(cause))
    return rejectedOutcome("the delivery could not be built from its configuration")
  }
}

/** Only the name of an error: its message may contain secrets. */
function nameOf(cause: unknown): string {
  return cause instanceof Error ? cause.name : "unknown"
}

function rejectedOutcome(message: string): Outcome {
  return { isTaken: false, status: null, message: message, excerpt: "", retryAfterMs: 0 }
}

function toOutcome(sent: OutboundResult, configured: Configured, { headers }: Outbound): Outcome {
  if (sent.status === null) return rejectedOutcome(sent.reason)
  const { status } = sent
  const isTaken = status >= 200 && status < 300
  const hint = status >= 300 && status < 400 ? ": set the address that it redirects to" : ""
  return {
    isTaken,
    status,
    message: `it returned ${status}${hint}`,
    excerpt: withoutSecrets(sent.excerpt, configured, headers),
    retryAfterMs: sent.retryAfterMs ?? 0,
  }
}
