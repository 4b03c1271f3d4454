import { isObject, type Json, listOf } from "../support/text/json.ts"
import { lastOf, sendRequest, ServerFailure, type Upstream } from "./protocol/transport.ts"
import { type McpRequest, STATELESS_VERSION } from "./protocol/message.ts"
import { withMeta } from "./protocol/stateless.ts"
import type { McpServerRow } from "./table.ts"

/** Detects the revision of a server: servers of revision 2026-07-28 support `server/discover`, others reject it. */

type Server = Pick<McpServerRow, "id" | "version">
type Known = { isStateless: boolean; until: number }

/** Recent results in this isolate, by id and version of the server's record. */
const known = new Map<string, Known>()
const RETENTION_MS = 5 * 60_000
const MAX_KNOWN = 1_000

const keyOf = ({ id, version }: Server) => `${id}:${version}`

/** Whether a server supports revision 2026-07-28. Throws ServerFailure if that cannot be determined. */
export async function supportsStateless(server: Server, upstream: Upstream): Promise<boolean> {
  const found = known.get(keyOf(server))
  if (found && found.until > Date.now()) return found.isStateless
  return (await discover(server, upstream)) !== undefined
}

/** Makes the next request detect the revision again, after a server rejected it. */
export function invalidateRevision(server: Server): void {
  known.delete(keyOf(server))
}

/** The discovery result of a server of revision 2026-07-28; undefined for one of an earlier revision. */
export async function discover(server: Server, upstream: Upstream): Promise<Json | undefined> {
  const request: McpRequest = { jsonrpc: "2.0", id: crypto.randomUUID(), method: "server/discover" }
  const probe = { ...upstream, sessionId: undefined, protocolVersion: STATELESS_VERSION, paramHeaders: {} }
  const result = await requestResult(withMeta(request), probe)
  const isStateless = listOf(result?.["supportedVersions"]).includes(STATELESS_VERSION)
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(keyOf(server), { isStateless, until: Date.now() + RETENTION_MS })
  return isStateless ? result : undefined
}

async function requestResult(request: McpRequest, upstream: Upstream): Promise<Json | undefined> {
  try {
    const { messages } = await sendRequest(request, upstream)
    const response = await lastOf(messages)
    return isObject(response?.["result"]) ? response["result"] : undefined
  } catch (thrown) {
    if (thrown instanceof ServerFailure && isRejection(thrown)) return undefined
    throw thrown
  }
}

/** Statuses that do not depend on the revision. */
const OTHER_CAUSES: ReadonlySet<number> = new Set([401, 403, 408, 429])

/** Whether a server may have rejected a request for its revision. */
export function isRejection({ status }: ServerFailure): boolean {
  return status !== undefined && status >= 400 && status < 500 && !OTHER_CAUSES.has(status)
}
