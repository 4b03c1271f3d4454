import { BASE_PATH } from "../../http/paths.ts"
import { NEWEST_SESSION_VERSION } from "../../mcp-servers/protocol/message.ts"
import { isObject, type Json, objectsOf } from "../../support/text/json.ts"
import type { CallGateway } from "./call-model.ts"

const CLIENT = { name: "gateway-intern", version: "1" }
const MAX_PAGES = 10
const NOT_FOUND = 404

export type ListedTool = { name: string; description: string; parameters: Json }
/** `generation`: the record of the call. */
export type CallOutcome = { result: Json; generation: string | null }

/** `callGateway`: sends calls of the agent's session. */
export type CallOptions = { signal: AbortSignal; callGateway: CallGateway }

type McpClientDeps = {
  /** Sends free requests. */
  callGateway: CallGateway
  /** The intern's own key. */
  key: () => Promise<string>
}

/** A client of registered MCP servers, through the gateway's endpoint: permissions, guardrails, prices and records. */
export class McpClient {
  readonly #deps: McpClientDeps
  /** Session ids by server; null for a server without sessions. */
  readonly #sessions = new Map<string, string | null>()

  constructor(deps: McpClientDeps) {
    this.#deps = deps
  }

  /** The tools of a server that the key may call. */
  async list(server: string, signal: AbortSignal): Promise<ListedTool[]> {
    const { callGateway } = this.#deps
    const listed: ListedTool[] = []
    let cursor: unknown
    for (let page = 0; page < MAX_PAGES; page++) {
      const params = cursor === undefined ? {} : { cursor }
      const { result } = await this.#request(server, { method: "tools/list", params }, { signal, callGateway })
      for (const { name, description, inputSchema } of objectsOf(result["tools"])) {
        if (typeof name !== "string") continue
        const parameters = isObject(inputSchema) ? inputSchema : { type: "object", properties: {} }
        listed.push({ name, description: typeof description === "string" ? description : "", parameters })
      }
      cursor = result["nextCursor"]
      if (typeof cursor !== "string" || cursor === "") break
    }
    return listed
  }

  /** Throws with the reason if the server or the gateway returned an error. */
  call(server: string, tool: string, args: Json, options: CallOptions): Promise<CallOutcome> {
    return this.#request(server, { method: "tools/call", params: { name: tool, arguments: args } }, options)
  }

  async #request(server: string, message: Message, options: CallOptions): Promise<CallOutcome> {
    if (!this.#sessions.has(server)) await this.#initialize(server, options)
    const response = await this.#post(server, { ...message, id: crypto.randomUUID() }, options)
    if (response.status !== NOT_FOUND || this.#sessions.get(server) === null) return outcomeOf(response)
    // The session has ended, so the server did not read the message.
    await response.body?.cancel()
    await this.#initialize(server, options)
    return outcomeOf(await this.#post(server, { ...message, id: crypto.randomUUID() }, options))
  }

  async #initialize(server: string, options: CallOptions): Promise<void> {
    this.#sessions.delete(server)
    const params = { protocolVersion: NEWEST_SESSION_VERSION, capabilities: {}, clientInfo: CLIENT }
    const response = await this.#post(server, { method: "initialize", params, id: crypto.randomUUID() }, options)
    const session = response.headers.get("mcp-session-id")
    await outcomeOf(response)
    this.#sessions.set(server, session)
    const accepted = await this.#post(server, { method: "notifications/initialized" }, options)
    await accepted.body?.cancel()
  }

  async #post(server: string, message: Message & { id?: string }, options: CallOptions): Promise<Response> {
    const { signal, callGateway } = options
    const session = this.#sessions.get(server)
    return callGateway(
      new Request(`https://gateway.internal${BASE_PATH}/mcp/${server}`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${await this.#deps.key()}`,
          "content-type": "application/json",
          // Requests one document, since no client reads a stream.
          accept: "application/json",
          ...(session != null && { "mcp-session-id": session }),
        },
        body: JSON.stringify({ jsonrpc: "2.0", ...message }),
        signal,
      }),
    )
  }
}

type Message = { method: string; params?: Json }

async function outcomeOf(response: Response): Promise<CallOutcome> {
  const body: unknown = await response.json().catch(() => undefined)
  const { result, error } = isObject(body) ? body : {}
  if (response.ok && isObject(result)) return { result, generation: response.headers.get("x-generation-id") }
  const message = isObject(error) ? error["message"] : undefined
  throw new Error(typeof message === "string" ? message : `The gateway returned status ${response.status}.`)
}
