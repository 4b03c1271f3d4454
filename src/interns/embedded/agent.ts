import { logError } from "../../support/log.ts"
import type { AcpMessage, RpcId } from "../run/acp/acp.ts"
import { record } from "../run/acp/acp-values.ts"
import type { ModelResponse, ModelMessage } from "./call-model.ts"
import { type Consent, isPermissionFor, PERMISSION_OPTIONS, type ResolvedCall } from "./consent.ts"
import type { Memory, Turn } from "./memory.ts"
import { inputOf, replayOf } from "./replay.ts"
import type { ToolCall } from "./tools.ts"
import { openCalls, textOf, withCall } from "./turns.ts"

/** Maximum of model calls within one turn. */
const MAX_ROUNDS = 40
const NO_USAGE = { prompt: 0, cached: 0, completion: 0, cost: 0 }

export type AgentDeps = {
  emit: (message: AcpMessage) => void
  callModel: (
    session: string,
    messages: ModelMessage[],
    options: { signal: AbortSignal; emitText: EmitText },
  ) => Promise<ModelResponse>
  resolve: (session: string, call: ToolCall, signal: AbortSignal) => Promise<ResolvedCall>
}
export type EmitText = (kind: "agent_message_chunk" | "agent_thought_chunk", text: string, model: string | null) => void

/**
 * An ACP agent inside the object of its intern. Every step is stored before the next one, so that a turn that waits for
 * a permission can continue in any isolate.
 */
export class EmbeddedAgent {
  readonly #memory: Memory
  readonly #deps: AgentDeps
  /** Turns in progress in this isolate. */
  readonly #working = new Map<string, { stopping: AbortController; hasNewMessages: boolean }>()

  constructor(memory: Memory, deps: AgentDeps) {
    this.#memory = memory
    this.#deps = deps
  }

  async receive(message: AcpMessage): Promise<void> {
    const { id, method } = message
    const params = record(message.params)
    const session = typeof params["sessionId"] === "string" ? params["sessionId"] : ""
    if (method === undefined) return this.#decided(String(id), record(record(message.result)["outcome"]))
    if (method === "session/cancel") return this.#cancel(session)
    if (id === undefined) return
    switch (method) {
      case "session/new":
        return this.#open(id)
      case "session/load":
        return this.#load(id, session)
      case "session/prompt":
        return this.#prompt(id, session, textOf(params["prompt"]))
      case "_intern/steer":
        return this.#steer(id, session, textOf(params["prompt"]))
      default:
        return this.#fail(id, -32_601, `${method} is not served.`)
    }
  }

  /**
   * Resumes turns that were interrupted with another isolate. An unstored step is repeated: its model call or its tool.
   */
  async resume(): Promise<void> {
    await Promise.all(this.#memory.unfinished().map((session) => this.#work(session)))
  }

  #open(rpc: RpcId): void {
    const session = crypto.randomUUID()
    this.#memory.begin(session)
    this.#reply(rpc, { sessionId: session })
  }

  #load(rpc: RpcId, session: string): void {
    if (!this.#memory.has(session)) return this.#fail(rpc, -32_002, "There is no such session.")
    for (const update of replayOf(this.#memory.history(session))) this.#update(session, update)
    this.#reply(rpc, {})
  }

  async #prompt(rpc: RpcId, session: string, text: string): Promise<void> {
    if (!this.#memory.has(session)) return this.#fail(rpc, -32_002, "There is no such session.")
    if (this.#memory.turn(session)) return this.#fail(rpc, -32_600, "A turn of this session runs.")
    this.#memory.addMessage(session, { role: "user", content: text })
    const turn = { rpc, rounds: 0, usage: NO_USAGE, model: null, steers: [], permission: null, isCancelled: false }
    this.#memory.setTurn(session, turn)
    await this.#work(session)
  }

  #steer(rpc: RpcId, session: string, text: string): void {
    const turn = this.#memory.turn(session)
    if (!turn) return this.#reply(rpc, { outcome: "promptRequired" })
    this.#memory.setTurn(session, { ...turn, steers: [...turn.steers, text] })
    this.#reply(rpc, { outcome: "injected" })
  }

  async #cancel(session: string): Promise<void> {
    const turn = this.#memory.turn(session)
    if (!turn) return
    this.#memory.setTurn(session, { ...turn, isCancelled: true })
    const working = this.#working.get(session)
    if (working) working.stopping.abort()
    else await this.#work(session)
  }

  async #decided(rpc: string, outcome: Record<string, unknown>): Promise<void> {
    const session = this.#memory.sessionAwaiting(rpc)
    const turn = session === undefined ? undefined : this.#memory.turn(session)
    if (session === undefined || !turn?.permission || turn.permission.decision !== null) return
    const option = outcome["outcome"] === "selected" ? outcome["optionId"] : undefined
    const { operation = "shell" } = turn.permission
    if (option === "always" || option === "never") this.#memory.rule(session, operation, option)
    const decision = option === "once" || option === "always" ? "allow" : "reject"
    this.#memory.setTurn(session, { ...turn, permission: { ...turn.permission, decision } })
    await this.#work(session)
  }

  /** Continues a turn until it ends or needs a permission. */
  async #work(session: string): Promise<void> {
    const running = this.#working.get(session)
    if (running) {
      running.hasNewMessages = true
      return
    }
    const working = { stopping: new AbortController(), hasNewMessages: true }
    this.#working.set(session, working)
    try {
      // The answer to a permission request may arrive before the loop stops to wait for it.
      while (working.hasNewMessages) {
        working.hasNewMessages = false
        while (await this.#step(session, working.stopping.signal)) {
          // One step is one row.
        }
      }
    } catch (cause) {
      logError("a turn of an intern failed", { session }, cause)
      const turn = this.#memory.turn(session)
      if (turn) this.#end(session, turn, { code: -32_603, message: "The agent failed." })
    } finally {
      this.#working.delete(session)
    }
  }

  /** Performs one step. Returns whether there are more. */
  async #step(session: string, signal: AbortSignal): Promise<boolean> {
    const turn = this.#memory.turn(session)
    if (!turn) return false
    const history = this.#memory.history(session)
    const open = openCalls(history)
    if (turn.isCancelled) {
      for (const call of open) this.#addToolResult(session, call, "The user cancelled this.")
      this.#end(session, turn, "cancelled")
      return false
    }
    const [call] = open
    if (call) return this.#call(session, call, signal)
    if (turn.steers.length > 0) {
      for (const text of turn.steers) this.#memory.addMessage(session, { role: "user", content: text })
      this.#memory.setTurn(session, { ...turn, steers: [] })
      return true
    }
    if (history.at(-1)?.role === "assistant" || turn.rounds >= MAX_ROUNDS) {
      this.#end(session, turn, turn.rounds >= MAX_ROUNDS ? "max_turn_requests" : "end_turn")
      return false
    }
    return this.#callModel(session, history, signal)
  }

  async #call(session: string, call: ToolCall, signal: AbortSignal): Promise<boolean> {
    const { consent, run } = await this.#deps.resolve(session, call, signal)
    const turn = this.#memory.turn(session)
    if (!turn || turn.isCancelled) return turn !== undefined
    const rule = consent ? this.#memory.ruleOf(session, consent.operation) : "always"
    if (consent && rule === undefined && !isPermissionFor(turn, call, consent)) {
      return this.#requestPermission(session, turn, call, consent)
    }
    const decision = rule === undefined ? turn.permission?.decision : { always: "allow", never: "reject" }[rule]
    if (decision === null) return false
    if (decision === "reject") {
      this.#addToolResult(session, call, "The user did not allow this.")
      this.#memory.setTurn(session, { ...turn, permission: null })
      return true
    }
    this.#update(session, {
      sessionUpdate: "tool_call",
      toolCallId: call.id,
      title: call.function.name,
      status: "in_progress",
      rawInput: consent?.input ?? inputOf(call),
    })
    const { text, cost } = await run(signal)
    this.#addToolResult(session, call, text)
    this.#update(session, { sessionUpdate: "tool_call_update", toolCallId: call.id, status: "completed" })
    const after = this.#memory.turn(session)
    const usage = after && { ...after.usage, cost: after.usage.cost + cost }
    if (after && usage) this.#memory.setTurn(session, { ...after, usage, permission: null })
    return true
  }

  #requestPermission(session: string, turn: Turn, call: ToolCall, { operation, kind, title, input }: Consent): boolean {
    const rpc = `permission-${crypto.randomUUID()}`
    this.#memory.setTurn(session, { ...turn, permission: { rpc, call: call.id, operation, decision: null } })
    const toolCall = { toolCallId: call.id, name: operation, title, kind, rawInput: input }
    this.#deps.emit({
      jsonrpc: "2.0",
      id: rpc,
      method: "session/request_permission",
      params: { sessionId: session, toolCall, options: PERMISSION_OPTIONS },
    })
    return false
  }

  async #callModel(session: string, history: ModelMessage[], signal: AbortSignal): Promise<boolean> {
    const emitText: EmitText = (sessionUpdate, text, model) => {
      this.#update(session, { sessionUpdate, content: { type: "text", text }, _meta: { model } })
    }
    const response = await this.#deps
      .callModel(session, history, { signal, emitText })
      .catch((cause: unknown): ModelResponse => {
        if (!signal.aborted) throw cause
        return { is: "failure", status: 499, message: "cancelled" }
      })
    const turn = this.#memory.turn(session)
    if (!turn) return false
    if (turn.isCancelled) return true
    if (response.is === "failure") {
      const countedTurn = response.counted ? withCall(turn, response.counted) : turn
      this.#end(session, countedTurn, { code: -32_603, message: response.message, data: { status: response.status } })
      return false
    }
    this.#memory.addMessage(session, response.message)
    this.#memory.setTurn(session, withCall(turn, response))
    return true
  }

  #addToolResult(session: string, call: ToolCall, content: string): void {
    this.#memory.addMessage(session, { role: "tool", tool_call_id: call.id, content })
  }

  #end(session: string, turn: Turn, how: string | { code: number; message: string; data?: object }): void {
    this.#memory.setTurn(session, undefined)
    const { prompt, cached, completion, cost } = turn.usage
    const usage = {
      inputTokens: prompt - cached,
      outputTokens: completion,
      totalTokens: prompt + completion,
      cachedReadTokens: cached,
    }
    const usageFields = turn.rounds > 0 && { usage, _meta: { cost, by_model: turn.models } }
    if (typeof how === "string") return this.#reply(turn.rpc, { stopReason: how, ...usageFields })
    this.#deps.emit({ jsonrpc: "2.0", id: turn.rpc, error: { ...how, data: { ...how.data, ...usageFields } } })
  }

  #update(session: string, update: Record<string, unknown>): void {
    this.#deps.emit({ jsonrpc: "2.0", method: "session/update", params: { sessionId: session, update } })
  }

  #reply(id: RpcId, result: unknown): void {
    this.#deps.emit({ jsonrpc: "2.0", id, result })
  }

  #fail(id: RpcId, code: number, message: string): void {
    this.#deps.emit({ jsonrpc: "2.0", id, error: { code, message } })
  }
}
