import { clientIpOf } from "../../http/request/client-ip.ts"
import { countUnknownKey, throttleUnknownKeys } from "../../access/flood.ts"
import { findKnownJoinTokens } from "../../access/known-keys-store.ts"
import { GatewayError } from "../../errors/errors.ts"
import type { Env } from "../../config/env.ts"
import { isSame, sha256Hex } from "../../support/text/encoding.ts"
import { hasWorkingKey } from "./access.ts"
import { findJoinable } from "./join-store.ts"
import type { StoredRow } from "../../support/db.ts"
import type { InternRow } from "../table.ts"

const BEARER = /^Bearer +(\S{1,256}) *$/i

/** The part of a request context that authentication reads. */
type RequestContext = { env: Env; req: { raw: Request } }

/**
 * Authenticates a daemon by its join token; throws 401. The token is not an API key, because an agent has the intern's
 * key in its environment and must not get the rights of its daemon. Read from D1 every time: a revoked token is
 * rejected at once, and a token of an intern with a revoked key within the cache time of keys.
 */
export async function joinTokenIntern(requested: RequestContext, id: string): Promise<InternRow> {
  return (await joinTokenInternAnd(requested, id, [])).intern
}

/** Also returns the results of other statements, read in the same round trip, if the token is valid. */
export async function joinTokenInternAnd(
  { env, req }: RequestContext,
  id: string,
  others: readonly D1PreparedStatement[],
): Promise<{ intern: InternRow; others: D1Result<StoredRow>[] }> {
  const { headers } = req.raw
  const token = BEARER.exec(headers.get("authorization") ?? "")?.[1]
  if (token === undefined)
    throw unauthenticatedError("Send the daemon's join token: Authorization: Bearer <JOIN_TOKEN>.")
  const ip = clientIpOf(req.raw, env)
  const hash = sha256Hex(token)
  const requested = { kind: "join token", key: `${id} ${hash}` }
  await throttleUnknownKeys(ip, requested, (pairs) => findKnownJoinTokens(env.DB, pairs), Date.now())
  const { row, others: read } = await findJoinable(env.DB, id, others)
  // The same error for an unknown intern and a wrong token, so that ids cannot be probed.
  if (row && isSame(hash, row.joinTokenHash ?? "") && (await hasWorkingKey(env, row))) {
    return { intern: row, others: read }
  }
  await countUnknownKey(env.RATE, ip, Date.now())
  throw unauthenticatedError("This join token is not valid for this intern.")
}

function unauthenticatedError(message: string): GatewayError {
  return new GatewayError("unauthenticated", message, { headers: { "www-authenticate": "Bearer" } })
}
