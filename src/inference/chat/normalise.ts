import { isObject } from "./reading.ts"

/**
 * What strict clients of the chat wire refuse and careless providers send. A chunk that needs nothing is left alone, so
 * that its bytes can pass as they came.
 */

export type ChunkDefaults = {
  id: string
  model: string
  created: number
  /** Ids of the tool calls seen, by their index: for providers that number none. */
  calls: string[]
}

type Json = Record<string, unknown>

/** The chunk as the contract has it; the same object when it already is. */
export function normaliseChunk(chunk: Json, defaults: ChunkDefaults): Json {
  const fixed: Json = { ...chunk }
  let changed = false
  const set = (key: string, value: unknown) => {
    fixed[key] = value
    changed = true
  }
  const drop = (key: string) => {
    delete fixed[key]
    changed = true
  }
  if (chunk["object"] !== "chat.completion.chunk") set("object", "chat.completion.chunk")
  if (typeof chunk["id"] !== "string") set("id", defaults.id)
  if (typeof chunk["model"] !== "string") set("model", defaults.model)
  if (!Number.isSafeInteger(chunk["created"])) set("created", toInteger(chunk["created"]) ?? defaults.created)
  if ("system_fingerprint" in chunk && typeof chunk["system_fingerprint"] !== "string") drop("system_fingerprint")
  if ("usage" in chunk && !isUsage(chunk["usage"])) drop("usage")
  if (!Array.isArray(chunk["choices"])) set("choices", [])
  else {
    const choices = chunk["choices"] as unknown[]
    const normal = choices.map((choice, index) => normaliseChoice(choice, index, defaults.calls))
    if (normal.some((choice, index) => choice !== choices[index])) set("choices", normal)
  }
  return changed ? fixed : chunk
}

function normaliseChoice(choice: unknown, position: number, calls: string[]): unknown {
  if (!isObject(choice)) return { index: position, delta: {}, finish_reason: null }
  const delta = isObject(choice["delta"]) ? normaliseDelta(choice["delta"], calls) : {}
  const index = Number.isSafeInteger(choice["index"]) ? choice["index"] : position
  const finishReason = typeof choice["finish_reason"] === "string" ? choice["finish_reason"] : null
  if (delta === choice["delta"] && index === choice["index"] && finishReason === choice["finish_reason"]) return choice
  return { ...choice, index, delta, finish_reason: finishReason }
}

const LISTS = ["tool_calls", "images", "reasoning_details"] as const

function normaliseDelta(delta: Json, seen: string[]): Json {
  const fixed = { ...delta }
  let changed = false
  if ("role" in delta && delta["role"] !== "assistant") {
    if (typeof delta["role"] === "string" && delta["role"] !== "") fixed["role"] = "assistant"
    else delete fixed["role"]
    changed = true
  }
  for (const key of LISTS) {
    if (!(key in delta) || Array.isArray(delta[key])) continue
    delete fixed[key]
    changed = true
  }
  if ("audio" in delta && delta["audio"] === null) {
    delete fixed["audio"]
    changed = true
  }
  if (Array.isArray(delta["tool_calls"])) {
    const calls = delta["tool_calls"] as unknown[]
    const normal = calls.map((call) => normaliseToolCall(call, seen))
    if (normal.some((call, index) => call !== calls[index])) {
      fixed["tool_calls"] = normal
      changed = true
    }
  }
  return changed ? fixed : delta
}

function normaliseToolCall(call: unknown, seen: string[]): unknown {
  if (!isObject(call)) return { index: Math.max(0, seen.length - 1) }
  const fixed = { ...call }
  if (!Number.isSafeInteger(call["index"])) fixed["index"] = indexOf(call["id"], seen)
  for (const key of ["id", "type"] as const) {
    if (key in call && (typeof call[key] !== "string" || call[key] === "")) delete fixed[key]
  }
  const called = call["function"]
  if (isObject(called)) {
    const named = { ...called }
    for (const key of ["name", "arguments"] as const) {
      if (key in called && typeof called[key] !== "string") {
        // Some providers send the arguments as the object they encode.
        if (key === "arguments" && isObject(called[key])) named[key] = JSON.stringify(called[key])
        else delete named[key]
      }
    }
    if (
      Object.keys(named).some((key) => named[key] !== called[key]) ||
      Object.keys(named).length !== Object.keys(called).length
    ) {
      fixed["function"] = named
    }
  }
  const same =
    Object.keys(fixed).length === Object.keys(call).length &&
    Object.keys(fixed).every((key) => fixed[key] === call[key])
  return same ? call : fixed
}

/** The place of a call without one: a new id begins a new call, and no id goes on with the last. */
function indexOf(id: unknown, seen: string[]): number {
  if (typeof id === "string" && id !== "" && !seen.includes(id)) seen.push(id)
  const known = typeof id === "string" ? seen.indexOf(id) : -1
  return known === -1 ? Math.max(0, seen.length - 1) : known
}

function isUsage(usage: unknown): boolean {
  return isObject(usage) && ["prompt_tokens", "completion_tokens", "total_tokens"].every((key) => isCount(usage[key]))
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function toInteger(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? Math.floor(value) : undefined
}

/** A whole answer as the contract has it. */
export function normaliseResult(result: Json, defaults: ChunkDefaults): Json {
  const choices = Array.isArray(result["choices"]) ? (result["choices"] as unknown[]) : []
  const { usage, ...rest } = result
  return {
    ...rest,
    id: typeof result["id"] === "string" ? result["id"] : defaults.id,
    object: "chat.completion",
    created: toInteger(result["created"]) ?? defaults.created,
    model: typeof result["model"] === "string" ? result["model"] : defaults.model,
    choices: choices.map((choice, index) => normaliseWholeChoice(choice, index)),
    system_fingerprint: typeof result["system_fingerprint"] === "string" ? result["system_fingerprint"] : null,
    ...(isUsage(usage) && { usage }),
  }
}

function normaliseWholeChoice(choice: unknown, position: number): unknown {
  if (!isObject(choice)) return { index: position, finish_reason: null, message: { role: "assistant", content: null } }
  const said = isObject(choice["message"]) ? choice["message"] : {}
  const message: Json = { ...said, role: "assistant", content: said["content"] ?? null }
  for (const key of [...LISTS, "audio"]) if (message[key] === null) delete message[key]
  return {
    ...choice,
    index: Number.isSafeInteger(choice["index"]) ? choice["index"] : position,
    finish_reason: typeof choice["finish_reason"] === "string" ? choice["finish_reason"] : null,
    message,
  }
}
