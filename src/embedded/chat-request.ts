export interface ToolFunction {
  name: string
  parameters: unknown
}

export interface ChatRequest {
  model: string
  messages: readonly unknown[]
  stream: boolean
  includeUsage: boolean
  choiceCount: number
  /** Infinity without a limit in the request. */
  maxTokens: number
  stops: readonly string[]
  /** The callable functions: none with `tool_choice: "none"`, one with a named choice. */
  tools: readonly ToolFunction[]
  parallelToolCalls: boolean
  /** Undefined unless the response format is a JSON schema. */
  schema: unknown
  /** The response format is `json_object`. */
  wantsJson: boolean
  reasons: boolean
}

export interface Invalid {
  message: string
  param: string | null
}

const MAX_CHOICES = 4

/** Reads the fields that the models use; a body that OpenAI would reject is returned as `Invalid`. */
export function toChatRequest(body: unknown): ChatRequest | Invalid {
  const { model, messages, stream, stream_options: streamOptions, stop, ...rest } = toRecord(body)
  if (typeof model !== "string") return { message: "You must provide a model parameter.", param: "model" }
  if (!Array.isArray(messages) || messages.length === 0) {
    return { message: "'messages' must be an array with at least one message.", param: "messages" }
  }
  for (const param of ["n", "max_tokens", "max_completion_tokens"]) {
    const value = rest[param] ?? 1
    if (typeof value !== "number" || !Number.isInteger(value) || value < 1) {
      return { message: `'${param}' must be a positive integer.`, param }
    }
  }
  const choiceCount = toLimit(rest.n ?? 1)
  if (choiceCount > MAX_CHOICES) return { message: `'n' must be at most ${MAX_CHOICES}.`, param: "n" }

  const declared = Array.isArray(rest.tools) ? rest.tools.flatMap(toToolFunction) : []
  const toolName = toRecord(toRecord(rest.tool_choice).function).name
  const tools = typeof toolName === "string" ? declared.filter((tool) => tool.name === toolName) : declared
  if (typeof toolName === "string" && tools.length === 0) {
    return { message: `Tool choice '${toolName}' was not found in 'tools'.`, param: "tool_choice" }
  }

  const format = toRecord(rest.response_format)
  return {
    model,
    messages,
    stream: stream === true,
    includeUsage: toRecord(streamOptions).include_usage === true,
    choiceCount,
    maxTokens: Math.min(toLimit(rest.max_tokens), toLimit(rest.max_completion_tokens)),
    stops: [stop]
      .flat()
      .filter((sequence) => typeof sequence === "string")
      .filter(Boolean),
    tools: rest.tool_choice === "none" ? [] : tools,
    parallelToolCalls: rest.parallel_tool_calls !== false,
    schema: format.type === "json_schema" ? (toRecord(format.json_schema).schema ?? {}) : undefined,
    wantsJson: format.type === "json_object",
    reasons: rest.reasoning_effort !== "none" && toRecord(rest.reasoning).effort !== "none",
  }
}

/** The joined text parts of the last user message. */
export function toUserText(messages: readonly unknown[]): string {
  return toText(messages.findLast((message) => toRecord(message).role === "user")) || "(empty)"
}

export function toText(message: unknown): string {
  const { content } = toRecord(message)
  if (typeof content === "string") return content
  if (!Array.isArray(content)) return ""
  return content
    .map((part) => toRecord(part).text)
    .filter((text) => typeof text === "string")
    .join("")
}

/** The body of a request; undefined if it is not JSON. */
export async function readJson(request: Request): Promise<unknown> {
  try {
    return await request.json()
  } catch {
    return undefined
  }
}

export function toRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {}
}

function toLimit(value: unknown): number {
  return typeof value === "number" ? value : Infinity
}

function toToolFunction(tool: unknown): ToolFunction[] {
  const { name, parameters } = toRecord(toRecord(tool).function)
  return typeof name === "string" ? [{ name, parameters: parameters ?? { type: "object" } }] : []
}
