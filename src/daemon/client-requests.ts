import type { AnyRequest } from "@agentclientprotocol/sdk"
import { isObject } from "../support/json.ts"

/** An agent that has the input at all sends it in the same moment. */
const LATEST_MS = 500

type Held = { session: unknown; call: unknown; release: () => void }

/**
 * Requests of the agent to the client, with what a client needs to answer them. Few agents say in which folder a command
 * runs that names none. opencode requests a permission for a tool of an MCP server with an empty input, and sends the input
 * in an update right after it: such a request is held until then, since nobody can answer a question that shows nothing.
 */
export class ClientRequests {
  readonly #cwd: string
  readonly #send: (request: AnyRequest) => void
  readonly #held = new Set<Held>()

  constructor(cwd: string, send: (request: AnyRequest) => void) {
    this.#cwd = cwd
    this.#send = send
  }

  pass(request: AnyRequest): void {
    const { session, call, isEmpty } = callOf(request.params, "toolCall")
    if (request.method !== "session/request_permission" || !isEmpty) return this.#forward(request)
    const timer = setTimeout(() => held.release(), LATEST_MS)
    const release = () => {
      clearTimeout(timer)
      if (this.#held.delete(held)) this.#forward(request)
    }
    const held: Held = { session, call, release }
    this.#held.add(held)
  }

  /** After an update was sent. */
  onUpdate({ method, params }: { method: string; params?: unknown }): void {
    const { session, call, isEmpty } = callOf(params, "update")
    if (method !== "session/update" || isEmpty !== false) return
    for (const held of this.#held) if (held.session === session && held.call === call) held.release()
  }

  /** The agent has ended: its requests are of no use to anyone. */
  drop(): void {
    this.#held.clear()
  }

  #forward(request: AnyRequest): void {
    const { params } = request
    const _meta = { cwd: this.#cwd, ...(isObject(params) && isObject(params["_meta"]) && params["_meta"]) }
    this.#send(isObject(params) ? { ...request, params: { ...params, _meta } } : request)
  }
}

/** `isEmpty`: whether its input has nothing in it; undefined without an input. */
function callOf(params: unknown, field: "toolCall" | "update") {
  const { sessionId: session, [field]: given } = isObject(params) ? params : {}
  const { toolCallId: call, rawInput } = isObject(given) ? given : {}
  return { session, call, isEmpty: isObject(rawInput) ? Object.keys(rawInput).length === 0 : undefined }
}
