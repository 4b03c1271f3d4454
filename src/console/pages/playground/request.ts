import type { Column, Settings, Turn } from "./types.ts"

export const NO_SETTINGS: Settings = {
  system: "",
  temperature: "",
  topP: "",
  maxTokens: "",
  seed: "",
  stop: "",
  effort: "",
  preset: "",
  tools: "",
  schema: "",
  sort: "",
  only: "",
  fallbacks: "",
  zdr: false,
}

type Json = Record<string, unknown>

/** Errors of the settings, by field. */
export function faultsOf(settings: Settings): Partial<Record<keyof Settings, string>> {
  const faults: Partial<Record<keyof Settings, string>> = {}
  const number = (field: keyof Settings, [min, max]: [number, number]) => {
    const text = settings[field]
    if (typeof text !== "string" || text === "") return
    const value = Number(text)
    if (!(value >= min && value <= max)) faults[field] = `must be from ${min} to ${max}`
  }
  number("temperature", [0, 2])
  number("topP", [0, 1])
  number("maxTokens", [1, 1_000_000])
  if (settings.seed !== "" && !Number.isInteger(Number(settings.seed))) faults.seed = "must be an integer"
  if (settings.tools !== "" && !Array.isArray(parse(settings.tools))) faults.tools = "must be a JSON array of tools"
  if (settings.schema !== "" && !isObject(parse(settings.schema))) faults.schema = "must be a JSON Schema object"
  return faults
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

const listOf = (text: string) =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean)

/** A field of the request, unless it is empty. */
function definedField(name: string, value: unknown): Json {
  return value === "" || value === undefined || (Array.isArray(value) && value.length === 0) ? {} : { [name]: value }
}

const numberOf = (text: string) => (text === "" ? undefined : Number(text))

export function messagesOf(settings: Settings, turns: readonly Turn[]): Json[] {
  const system = settings.system.trim() === "" ? [] : [{ role: "system", content: settings.system }]
  return [...system, ...turns.flatMap(messagesOfTurn)]
}

function messagesOfTurn({ text, images, run }: Turn, index: number, all: readonly Turn[]): Json[] {
  const content =
    images.length === 0
      ? text
      : [{ type: "text", text }, ...images.map((url) => ({ type: "image_url", image_url: { url } }))]
  const user = { role: "user", content }
  const { value } = run
  if (index === all.length - 1) return [user]
  const calls = value.toolCalls.map((call) => ({
    id: call.id,
    type: "function",
    function: { name: call.name, arguments: call.arguments },
  }))
  // A tool call needs its result before the conversation can continue; the console runs no tools.
  const results = calls.map(({ id }) => ({
    role: "tool",
    tool_call_id: id,
    content: "Not run: sent from the console.",
  }))
  return [user, { role: "assistant", content: value.text, ...definedField("tool_calls", calls) }, ...results]
}

/** The body of the call: the same for the console and for the code that it shows. */
export function bodyOf(model: string, settings: Settings, messages: readonly Json[]): Json {
  const { only, sort, zdr } = settings
  const provider = { ...definedField("only", listOf(only)), ...definedField("sort", sort), ...(zdr && { zdr }) }
  const schema = parse(settings.schema)
  return {
    model,
    ...definedField("models", listOf(settings.fallbacks)),
    messages,
    ...definedField("preset", settings.preset),
    ...definedField("temperature", numberOf(settings.temperature)),
    ...definedField("top_p", numberOf(settings.topP)),
    ...definedField("max_tokens", numberOf(settings.maxTokens)),
    ...definedField("seed", numberOf(settings.seed)),
    ...definedField("stop", listOf(settings.stop)),
    ...(settings.effort !== "" && { reasoning: { effort: settings.effort } }),
    ...definedField("tools", settings.tools === "" ? undefined : parse(settings.tools)),
    ...(isObject(schema) && {
      response_format: { type: "json_schema", json_schema: { name: "answer", strict: true, schema } },
    }),
    ...(Object.keys(provider).length > 0 && { provider }),
  }
}

/** The part of the settings that a preset stores. */
export function presetOf(model: string, settings: Settings): { config: Json; system_prompt: string | null } {
  const { messages: _, preset: __, ...config } = bodyOf(model, settings, [])
  return { config, system_prompt: settings.system.trim() === "" ? null : settings.system }
}

/** A conversation without a question gets a sample, so that the shown code runs. */
export function sampleBody(column: Column, settings: Settings, draft: string): Json {
  const turns = column.turns.value
  const messages = messagesOf(settings, turns)
  const question = draft.trim() === "" ? "Hello" : draft
  const isOpen = turns.length === 0 || draft.trim() !== ""
  return bodyOf(column.model.value, settings, isOpen ? [...messages, { role: "user", content: question }] : messages)
}

/** Number of settings that differ from their defaults. */
export function changedSettings(settings: Settings): number {
  return keysOf(NO_SETTINGS).filter((name) => settings[name] !== NO_SETTINGS[name]).length
}

const keysOf = (settings: Settings) => Object.keys(settings) as (keyof Settings)[]
