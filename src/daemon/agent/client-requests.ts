import type { AnyRequest } from "@agentclientprotocol/sdk"
import { isObject } from "../../support/text/json.ts"

/** Maximum delay of the input: an agent sends it at once if it has it. */
const LATEST_MS = 500

export type AgentTraits = {
  /** Working directory of the agent. */
  cwd: string
  /** Permission requests for commands have no input: their title is the exact command. */
  titlesAreCommands: boolean
}

type Held = { session: unknown; call: unknown; release: () => void }

/**
 * Requests of the agent to the client, completed with data that a client needs. Few agents report the default folder of
 * a command. opencode requests permission for an MCP tool with an empty input, and sends the input in an update right
 * after it: such a request is delayed until then, since a question without input cannot be answered.
 */
export class ClientRequests {
  readonly #agent: AgentTraits
  readonly #send: (request: AnyRequest) => void
  readonly #held = new Set<Held>()

  constructor(agent: AgentTraits, send: (request: AnyRequest) => void) {
    this.#agent = agent
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
    if (!isObject(params)) return this.#send(request)
    const _meta = { cwd: this.#agent.cwd, ...(isObject(params["_meta"]) && params["_meta"]) }
    const toolCall = this.#agent.titlesAreCommands ? withCommand(params["toolCall"]) : undefined
    this.#send({ ...request, params: { ...params, ...(toolCall && { toolCall }), _meta } })
  }
}

/** The call of a command with its title as input; undefined for another call, or one with an input. */
function withCommand(call: unknown): object | undefined {
  if (!isObject(call) || call["kind"] !== "execute" || call["rawInput"] !== undefined) return undefined
  return typeof call["title"] === "string" ? { ...call, rawInput: { command: call["title"] } } : undefined
}

/** `isEmpty`: whether the input is empty; undefined without an input. */
function callOf(params: unknown, field: "toolCall" | "update") {
  const { sessionId: session, [field]: value } = isObject(params) ? params : {}
  const { toolCallId: call, rawInput } = isObject(value) ? value : {}
  return { session, call, isEmpty: isObject(rawInput) ? Object.keys(rawInput).length === 0 : undefined }
}
