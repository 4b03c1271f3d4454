import { clientIpOf } from "../http/request/client-ip.ts"
import { countUnknownKey, throttleUnknownKeys } from "../access/flood.ts"
import { GatewayError } from "../errors/errors.ts"
import { requestedHost } from "../http/request/hostname.ts"
import { regionOf } from "../http/request/region.ts"
import type { Env } from "../config/env.ts"
import { sha256Hex } from "../support/text/encoding.ts"
import { hasWorkingKey } from "./access/access.ts"
import { internDomain } from "./intern.ts"
import { internError } from "./lifecycle/reasons.ts"
import { findInternByHostname, findNonces } from "./store.ts"
import type { InternRow } from "./table.ts"
import { accessTokenOf, isAccessToken } from "./access/tokens.ts"

/** The WebSocket subprotocol of the Agent Client Protocol. */
export const SUBPROTOCOL = "acp"
const BEARER = /^Bearer +(\S{1,256}) *$/i
/** Web pages cannot set headers of a WebSocket, so they send the token as a subprotocol. */
const TOKEN_PROTOCOL = /^bearer\.(\S{1,256})$/

/**
 * Whether a request is for the hostname of an intern: any name below the interns' domain, existing or not, except
 * regional hostnames.
 */
export function isSite(request: Pick<Request, "url">, env: Env): boolean {
  const below = `.${internDomain(env)}`
  // Fast path: most requests are for other hostnames, and their URL is not parsed.
  if (!request.url.toLowerCase().includes(below)) return false
  return requestedHost(request).endsWith(below) && regionOf(request, env) === null
}

/** The subprotocols of a Sec-WebSocket-Protocol header. */
export function splitProtocols(header: string): string[] {
  return header.split(",").map((name) => name.trim())
}

function tokenOf(headers: Headers): string | undefined {
  const header = headers.get("authorization")
  if (header !== null) return BEARER.exec(header)?.[1]
  const tokens = splitProtocols(headers.get("sec-websocket-protocol") ?? "").map(
    (name) => TOKEN_PROTOCOL.exec(name)?.[1],
  )
  return tokens.find((token) => token !== undefined)
}

/** The running intern of the request's hostname and access token. Throws if either is invalid. */
export async function reachedIntern({ env, req }: { env: Env; req: { raw: Request } }): Promise<InternRow> {
  const { headers } = req.raw
  const token = tokenOf(headers)
  if (token === undefined) {
    throw unauthenticatedError("Send the token of GET /interns/{id}/daemon: Authorization: Bearer <TOKEN>.")
  }
  const ip = clientIpOf(req.raw, env)
  const hostname = requestedHost(req.raw)
  const requested = { kind: "access token", key: `${hostname} ${sha256Hex(token)}` }
  await throttleUnknownKeys(ip, requested, (pairs) => findKnownAccessTokens(env, pairs), Date.now())
  const { row, hasInternsAccess } = (await findInternByHostname(env.DB, hostname)) ?? {}
  // The same error for an unknown hostname and a wrong token, so that names cannot be probed.
  if (!row || !(await isAccessToken(env, row, token)) || !(await hasWorkingKey(env, row))) {
    await countUnknownKey(env.RATE, ip, Date.now())
    throw unauthenticatedError("This token is not valid here. GET /interns/{id}/daemon returns the valid one.")
  }
  if (!hasInternsAccess) throw internError("not_found", "There is nothing at this address.")
  if (row.status !== "running") {
    throw internError("intern_not_running", `The intern is ${row.status.replaceAll("_", " ")}. Provision it first.`)
  }
  return row
}

/** The valid ones of these pairs of a hostname and the hash of an access token, separated by a space. */
async function findKnownAccessTokens(env: Env, pairs: readonly string[]): Promise<Set<string>> {
  const hostnames = new Set(pairs.map((pair) => pair.split(" ", 1)[0] ?? ""))
  const rows = await findNonces(env.DB, [...hostnames])
  const known = rows.map(async (row) => `${row.hostname} ${sha256Hex((await accessTokenOf(env, row)) ?? "")}`)
  return new Set(await Promise.all(known))
}

function unauthenticatedError(message: string): GatewayError {
  return new GatewayError("unauthenticated", message, { headers: { "www-authenticate": "Bearer" } })
}
