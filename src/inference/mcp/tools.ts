import { GatewayError } from "../../errors/errors.ts"
import { endSession, sendOneWay, ServerFailure } from "../../mcp-servers/protocol/transport.ts"
import { type McpMessage, type McpRequest, NEWEST_SESSION_VERSION } from "../../mcp-servers/protocol/message.ts"
import { newFunctionName, textOfResult } from "../../mcp-servers/functions.ts"
import { priceOf } from "../../mcp-servers/server.ts"
import { CLIENT_INFO } from "../../mcp-servers/protocol/stateless.ts"
import type { McpServerChoice, OpenMcpTools } from "../../server-tools/mcp.ts"
import { failure, type RequestedTool, type ToolOutcome } from "../../server-tools/tool.ts"
import type { Screening } from "../../guardrails/screening.ts"
import { isObject, type Json, objectsOf } from "../../support/text/json.ts"
import { withTimeout } from "../../support/time/time.ts"
import type { IncomingCall } from "../context.ts"
import type { Deps } from "../deps.ts"
import { connect, type Connection } from "./connection.ts"
import { runRequest, TIME_IS_OVER } from "./run.ts"

/** The gateway as a client of MCP servers, for requests whose model may call their tools. */

const MAX_TOOLS = 128
const MAX_PAGES = 10

/** Opens a session with each server and lists its tools. Fails if a server cannot be used. */
export async function openMcpTools(
  incoming: IncomingCall,
  deps: Deps,
  choices: readonly McpServerChoice[],
  takenNames: Set<string>,
): Promise<OpenMcpTools> {
  const opened: Connection[] = []
  const close = () => {
    for (const { server, upstream } of opened.splice(0)) {
      const end = (signal: AbortSignal) => endSession({ ...upstream, signal })
      deps.waitUntil(withTimeout(server.timeoutMs, end).catch(() => undefined))
    }
  }
  const onOpened = (connection: Connection) => {
    if (connection.upstream.sessionId !== undefined) opened.push(connection)
  }
  const opening = await Promise.allSettled(choices.map((choice) => openSession(incoming, deps, choice, onOpened)))
  const failed = opening.find(({ status }) => status === "rejected")
  if (failed) close()
  if (failed?.status === "rejected") throw failed.reason
  const sessions = opening.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []))
  const tools = sessions.flatMap(({ connection, listed }) =>
    listed.map((tool) => toRequested(tool, connection, takenNames)),
  )
  if (tools.length <= MAX_TOOLS) return { tools, close }
  close()
  throw new GatewayError(
    "invalid_request",
    `tools: the MCP servers have more than ${MAX_TOOLS} tools. Select some with allowed_tools.`,
  )
}

/** The model reads the results, so they are screened like those of other server tools. */
function forModel(screening: Screening | undefined): Screening | undefined {
  return screening && { ...screening, readsOutput: true, response: screening.toolResult }
}

type Listed = { name: string; description: string; parameters: Json }
type Session = { connection: Connection; listed: Listed[] }

async function openSession(
  incoming: IncomingCall,
  deps: Deps,
  choice: McpServerChoice,
  onOpened: (connection: Connection) => void,
): Promise<Session> {
  const found = await connect(incoming, choice.server)
  const connection = { ...found, deps: async () => deps, newScreening: () => forModel(found.newScreening()) }
  const params = { protocolVersion: NEWEST_SESSION_VERSION, capabilities: {}, clientInfo: CLIENT_INFO }
  const { response, sessionId } = await callServer("initialize", params, connection, deps.signal)
  const { protocolVersion } = resultOf(response, connection)
  const upstream = {
    ...connection.upstream,
    sessionId: sessionId ?? undefined,
    protocolVersion: typeof protocolVersion === "string" ? protocolVersion : undefined,
  }
  const open = { ...connection, upstream }
  onOpened(open)
  const initialized = { jsonrpc: "2.0" as const, method: "notifications/initialized" }
  const notify = (signal: AbortSignal) => sendOneWay(initialized, { ...upstream, signal })
  await withTimeout(connection.server.timeoutMs, notify, deps.signal).catch((thrown: unknown) => {
    throw unusableError(connection, thrown instanceof ServerFailure ? thrown.message : "The connection failed.")
  })
  const offered = await listTools(open, choice, deps.signal)
  if (offered.length > 0) return { connection: open, listed: offered }
  throw new GatewayError(
    "invalid_request",
    `tools: the MCP server ${choice.server} has no tool that this key may call and allowed_tools names.`,
  )
}

/** The chosen tools that the key may call, from all pages. */
async function listTools(
  connection: Connection,
  { allowedTools }: McpServerChoice,
  signal: AbortSignal,
): Promise<Listed[]> {
  const listed: Listed[] = []
  let cursor: unknown
  for (let page = 0; page < MAX_PAGES && listed.length <= MAX_TOOLS; page++) {
    const { response } = await callServer("tools/list", cursor === undefined ? {} : { cursor }, connection, signal)
    const result = resultOf(response, connection)
    for (const { name, description, inputSchema } of objectsOf(result["tools"])) {
      if (typeof name !== "string" || (allowedTools && !allowedTools.includes(name))) continue
      listed.push({
        name,
        description: typeof description === "string" ? description : "",
        parameters: isObject(inputSchema) ? inputSchema : { type: "object", properties: {} },
      })
    }
    cursor = result["nextCursor"]
    if (typeof cursor !== "string" || cursor === "") return listed
  }
  return listed
}

function toRequested(
  { name, description, parameters }: Listed,
  connection: Connection,
  takenNames: Set<string>,
): RequestedTool {
  const { server } = connection
  const about = { server_label: server.slug, name }
  return {
    kind: "mcp",
    type: "mcp",
    itemType: "mcp_call",
    failedStatus: "failed",
    definition: { name: newFunctionName(`${server.slug}__${name}`, takenNames), description, parameters },
    maxUses: undefined,
    rejectedItem: (message) => ({ ...about, arguments: "{}", output: null, error: message }),
    run: async (args, { signal }) => {
      const item = { ...about, arguments: JSON.stringify(args) }
      let screened: Pick<ToolOutcome, "stages" | "blockError"> = {}
      const onScreened: Connection["onScreened"] = (stages, blockError) =>
        void (screened = { stages, ...(blockError && { blockError }) })
      const { response } = await callServer(
        "tools/call",
        { name, arguments: args },
        { ...connection, onScreened },
        signal,
      )
      return { ...toOutcome(response, item, priceOf(server, name)), ...screened }
    },
  }
}

function toOutcome({ result, error }: McpMessage, item: Json, priceNano: number): ToolOutcome {
  if (!isObject(result)) {
    const errorMessage = isObject(error) ? error["message"] : undefined
    const message = typeof errorMessage === "string" ? errorMessage : "The tool failed."
    return failure(message, { ...item, output: null, error: message })
  }
  const content = textOfResult(result)
  const isError = result["isError"] === true
  const outcome = isError ? { output: null, error: content } : { output: content, error: null }
  return { content, isError, costNano: priceNano, searches: 0, item: { ...item, ...outcome }, citations: [] }
}

/** The response to one request, within the timeout of the server's record. */
async function callServer(
  method: string,
  params: Json,
  connection: Connection,
  client: AbortSignal,
): Promise<{ response: McpMessage; sessionId: string | null }> {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(TIME_IS_OVER), connection.server.timeoutMs)
  const onDisconnect = () => controller.abort()
  if (client.aborted) onDisconnect()
  client.addEventListener("abort", onDisconnect, { once: true })
  const request: McpRequest = { jsonrpc: "2.0", id: crypto.randomUUID(), method, params }
  try {
    const { messages, sessionId } = await runRequest(request, connection, controller.signal)
    let response: McpMessage = { jsonrpc: "2.0" }
    for await (const message of messages) response = message
    return { response, sessionId }
  } catch (thrown) {
    if (!(thrown instanceof ServerFailure)) throw thrown
    return { response: { jsonrpc: "2.0", error: { message: thrown.message } }, sessionId: null }
  } finally {
    clearTimeout(timer)
    client.removeEventListener("abort", onDisconnect)
  }
}

function resultOf({ result, error }: McpMessage, connection: Connection): Json {
  if (isObject(result)) return result
  const message = isObject(error) ? error["message"] : undefined
  throw unusableError(connection, typeof message === "string" ? message : "It did not respond.")
}

function unusableError({ server }: Connection, reason: string): GatewayError {
  return new GatewayError("provider_failed", `The MCP server ${server.slug} cannot be used. ${reason}`)
}
