import { GatewayError } from "../../errors/errors.ts"
import type { PipelineStage } from "../../formats/pipeline-stage.ts"
import type { Screening } from "../../guardrails/screening.ts"
import { screeningOf } from "../../guardrails/create-screening.ts"
import type { Upstream } from "../../mcp-servers/protocol/transport.ts"
import { STATELESS_VERSION, VERSION_WITHOUT_HEADER } from "../../mcp-servers/protocol/message.ts"
import { openHeaders } from "../../mcp-servers/open-headers.ts"
import { mayConnect } from "../../mcp-servers/permission.ts"
import { noSuchServer } from "../../mcp-servers/routes.ts"
import { openSessionId } from "../../mcp-servers/protocol/session.ts"
import { findMcpServer } from "../../mcp-servers/store.ts"
import type { McpServerRow } from "../../mcp-servers/table.ts"
import { networkOf, hostsIn } from "../../outbound/settings.ts"
import { masterKeysOf } from "../../secrets/master-key.ts"
import { createDeps, type IncomingCall, requestMetaOf } from "../context.ts"
import type { Deps, RequestMeta } from "../deps.ts"

/** The context of a client's request to a registered server. */
export type Connection = {
  incoming: IncomingCall
  meta: RequestMeta
  server: McpServerRow
  /** Revision that the client names; the oldest where it names none. */
  version: string
  /** Whether the request uses revision 2026-07-28. */
  isStateless: boolean
  upstream: Omit<Upstream, "signal">
  newScreening: () => Screening | undefined
  /** Called with the guardrail findings of a tool call; `blockError` is set if a guardrail blocks it. */
  onScreened?: (stages: readonly PipelineStage[], blockError?: GatewayError) => void
  /** Called with the generation id of a tool call before it is sent. */
  onHeld?: (generationId: string) => void
  deps: () => Promise<Deps>
}

const SESSION_HEADER = "mcp-session-id"

/**
 * `version`: the revision that the client names. Throws 403 and 404 for a server that the key may not use, 404 for a
 * session.
 */
export async function connect(incoming: IncomingCall, slug: string, version?: string): Promise<Connection> {
  const { caller, env } = incoming
  const { headers } = incoming.request
  requireOrigin(headers.get("origin"))
  const found = await findMcpServer(env.DB, caller, slug)
  if (!found?.row.enabled) throw noSuchServer(slug)
  const { row: server } = found
  if (!mayConnect(caller, server)) {
    const rule = `This key may call no tool of the MCP server ${slug}. A management key sets mcp_tools of the key; every guardrail of the key with allowed_mcp_tools must allow them, too.`
    throw new GatewayError("forbidden", rule, { metadata: { reason: "mcp_tool_denied" } })
  }
  const secrets = await openHeaders(found, env)
  if (!secrets)
    throw new GatewayError("internal", `The headers of the MCP server ${slug} cannot be decrypted. Send them again.`)
  const isStateless = version === STATELESS_VERSION
  const sealed = isStateless ? null : headers.get(SESSION_HEADER)
  const holder = { server, principal: caller }
  const sessionId = sealed === null ? undefined : await openSessionId(sealed, holder, masterKeysOf(env))
  if (sealed !== null && sessionId === undefined) throw sessionLost()
  const send: typeof fetch = (...one) => fetch(...one)
  const deps = { fetch: send, ...networkOf(env, send), privateHosts: hostsIn(env, "PRIVATE_HOSTS") }
  const meta = requestMetaOf(incoming)
  let created: Promise<Deps> | undefined
  return {
    incoming,
    meta,
    server,
    version: version ?? VERSION_WITHOUT_HEADER,
    isStateless,
    upstream: { url: server.url, headers: secrets, sessionId, protocolVersion: version, deps },
    newScreening: () => screeningOf(caller.guardrails, meta),
    deps: () => (created ??= createDeps(incoming)),
  }
}

export function sessionLost(): GatewayError {
  return new GatewayError(
    "not_found",
    `${SESSION_HEADER}: this session has ended or belongs to another key. Initialize a new one.`,
  )
}

/**
 * Against DNS rebinding. The key is in a header that a page cannot send without having the key, so pages of every
 * origin may call. Pages with an opaque origin (a sandboxed frame, a local file) may not.
 */
function requireOrigin(origin: string | null): void {
  if (origin === null || /^https?:$/.test(URL.parse(origin)?.protocol ?? "")) return
  throw new GatewayError("forbidden", "Origin: must be an http or https origin.")
}
