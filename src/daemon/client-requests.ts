import type { AnyRequest } from "@agentclientprotocol/sdk"
import { isObject } from "../support/json.ts"

/** Maximum delay of the input: an agent sends it at once if it has it. */
const LATEST_MS = 500

type Held = { session: unknown; call: unknown; release: () => void }

/**
 * Requests of the agent to the client, completed with data that a client needs. Few agents report the default folder of
 * a command. opencode requests permission for an MCP tool with an empty input, and sends the input in an update right
 * after it: such a request is delayed until then, since a question without input cannot be answered.
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

  /** Called after an update was sent. */
  onUpdate({ method, params }: { method: string; params?: unknown }): void {
    const { session, call, isEmpty } = callOf(params, "update")
    if (method !== "session/update" || isEmpty !== false) return
    for (const held of this.#held) if (held.session === session && held.call === call) held.release()
  }

  /** Drops pending requests of an agent that has exited. */
  drop(): void {
    this.#held.clear()
  }

  #forward(request: AnyRequest): void {
    const { params } = request
    const _meta = { cwd: this.#cwd, ...(isObject(params) && isObject(params["_meta"]) && params["_meta"]) }
    this.#send(isObject(params) ? { ...request, params: { ...params, _meta } } : request)
  }
}

/** `isEmpty`: whether the input is empty; undefined without an input. */
function callOf(params: unknown, field: "toolCall" | "update") {
  const { sessionId: session, [field]: value } = isObject(params) ? params : {}
  const { toolCallId: call, rawInput } = isObject(value) ? value : {}
  return { session, call, isEmpty: isObject(rawInput) ? Object.keys(rawInput).length === 0 : undefined }
}
