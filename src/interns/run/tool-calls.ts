import type { Json } from "../../support/text/json.ts"
import type { AcpMessage, ToolEvent } from "./acp/acp.ts"
import { record, text } from "./acp/acp-values.ts"
import type { TranscriptEntry } from "./transcript.ts"

const MAX_CALLS = 64

/**
 * Tool calls that agents have announced. Some agents describe a call in an update and request permission only with its
 * id, so the latest calls are kept to complete the request. In memory only: the request follows within the same turn.
 */
export class ToolCalls {
  readonly #calls = new Map<string, Json>()

  /** Completes a permission request with the known data of its tool call. */
  complete(message: AcpMessage): AcpMessage {
    const params = record(message.params)
    if (message.method === "session/update") this.#remember(params)
    if (message.method !== "session/request_permission") return message
    const toolCall = record(params["toolCall"])
    const stored = this.#calls.get(keyOf(params, toolCall))
    return stored ? { ...message, params: { ...params, toolCall: merge(stored, toolCall) } } : message
  }

  #remember(params: Json): void {
    const update = record(params["update"])
    const kind = update["sessionUpdate"]
    if (kind !== "tool_call" && kind !== "tool_call_update") return
    const key = keyOf(params, update)
    const stored = this.#calls.get(key) ?? {}
    this.#calls.delete(key)
    if (update["status"] === "completed" || update["status"] === "failed") return
    this.#calls.set(key, merge(stored, update))
    const [oldest] = this.#calls.keys()
    if (this.#calls.size > MAX_CALLS && oldest !== undefined) this.#calls.delete(oldest)
  }
}

function keyOf(params: Json, call: Json): string {
  return JSON.stringify([text(params["sessionId"]), text(call["toolCallId"])])
}

const EMPTY = (value: unknown) =>
  value == null || value === "" || (typeof value === "object" && Object.keys(value).length === 0)

/** Later values win, unless they are empty. The first name is kept: titles change while a call runs. */
function merge(stored: Json, update: Json): Json {
  const defined = Object.fromEntries(Object.entries(update).filter(([, value]) => !EMPTY(value)))
  return { ...stored, ...defined }
}

/**
 * Changes of a tool call for the transcript: agents repeat its title, status and input with every piece of output. In
 * memory only: after an eviction, a call may be recorded twice.
 */
export class ToolCallChanges {
  readonly #known = new Map<string, Json>()

  /** Undefined if nothing changed. */
  entry({ acp, id, title, status, details }: ToolEvent): (TranscriptEntry & { kind: "tool_call" }) | undefined {
    const key = JSON.stringify([acp, id])
    const stored = this.#known.get(key)
    const state = {
      title: title ?? text(stored?.["title"]) ?? "",
      status: status ?? text(stored?.["status"]) ?? "pending",
    }
    const changes = Object.entries({ ...state, ...details })
    const changed = changes.filter(([field, value]) => JSON.stringify(value) !== JSON.stringify(stored?.[field]))
    if (changed.length === 0) return undefined
    this.#known.delete(key)
    if (!ENDED.has(state.status)) this.#known.set(key, { ...stored, ...state, ...details })
    const [oldest] = this.#known.keys()
    if (this.#known.size > MAX_CALLS && oldest !== undefined) this.#known.delete(oldest)
    return { kind: "tool_call", id, ...Object.fromEntries(changed), ...state }
  }
}

const ENDED = new Set(["completed", "failed"])
