import type { Call, Conversation, Format, Part, Turn } from "./conversation.ts"

/** A conversation as the request bodies of the three API formats. */

type Json = Record<string, unknown>

export const RESOURCES: Readonly<Record<Format, string>> = {
  chat: "/chat/completions",
  responses: "/responses",
  messages: "/messages",
}

export function toRequest(format: Format, conversation: Conversation, isStreamed: boolean): Json {
  const { model, shared } = conversation
  return { model, ...WRITERS[format](conversation), ...shared, ...(isStreamed && { stream: true }) }
}

const WRITERS: Readonly<Record<Format, (conversation: Conversation) => Json>> = {
  chat: toChat,
  responses: toResponses,
  messages: toMessages,
}

const SCHEMA_NAME = "answer"

function defined(fields: Json): Json {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

const contentOf = (content: string | Part[], write: (part: Part) => Json) =>
  typeof content === "string" ? content : content.map(write)

function toChat(conversation: Conversation): Json {
  const { system, turns, tools, toolChoice, schema, effort, thinkingTokens } = conversation
  const first = system === undefined ? [] : [{ role: "system", content: system }]
  return defined({
    messages: [...first, ...turns.map(chatMessage)],
    max_tokens: conversation.maxTokens,
    tools: tools?.map((tool) => ({ type: "function", function: tool })),
    tool_choice:
      typeof toolChoice === "object" ? { type: "function", function: { name: toolChoice.name } } : toolChoice,
    parallel_tool_calls: conversation.isParallel,
    stop: conversation.stop,
    response_format: conversation.isJson
      ? { type: "json_object" }
      : schema && { type: "json_schema", json_schema: { name: SCHEMA_NAME, schema, strict: true } },
    reasoning: effort ? { effort } : thinkingTokens && { max_tokens: thinkingTokens },
    user: conversation.userId,
  })
}

function chatMessage(turn: Turn): Json {
  switch (turn.role) {
    case "system":
    case "developer":
      return { role: turn.role, content: turn.text }
    case "tool":
      return { role: "tool", tool_call_id: turn.id, content: contentOf(turn.result, chatPart) }
    case "user":
      return { role: "user", content: contentOf(turn.content, chatPart) }
    case "assistant":
      return {
        role: "assistant",
        content: turn.text ?? null,
        ...(turn.calls.length > 0 && { tool_calls: turn.calls.map(chatCall) }),
      }
  }
}

const chatCall = ({ id, name, input }: Call) => ({
  id,
  type: "function",
  function: { name, arguments: JSON.stringify(input) },
})

function chatPart(part: Part): Json {
  if (part.kind === "text") return { type: "text", text: part.text }
  if (part.kind === "image") return { type: "image_url", image_url: { url: part.url } }
  return { type: "file", file: { filename: part.name, file_data: part.data } }
}

function toResponses(conversation: Conversation): Json {
  const { system, turns, tools, toolChoice, schema, effort, thinkingTokens } = conversation
  return defined({
    instructions: system,
    input: turns.flatMap(responsesItems),
    max_output_tokens: conversation.maxTokens,
    tools: tools?.map((tool) => ({ type: "function", ...tool })),
    tool_choice: typeof toolChoice === "object" ? { type: "function", name: toolChoice.name } : toolChoice,
    parallel_tool_calls: conversation.isParallel,
    stop: conversation.stop,
    text: conversation.isJson
      ? { format: { type: "json_object" } }
      : schema && { format: { type: "json_schema", name: SCHEMA_NAME, schema, strict: true } },
    reasoning: effort ? { effort } : thinkingTokens && { max_tokens: thinkingTokens },
    user: conversation.userId,
  })
}

function responsesItems(turn: Turn): Json[] {
  switch (turn.role) {
    case "system":
    case "developer":
      return [{ role: turn.role, content: turn.text }]
    case "tool":
      return [{ type: "function_call_output", call_id: turn.id, output: contentOf(turn.result, inputPart) }]
    case "user":
      return [{ role: "user", content: contentOf(turn.content, inputPart) }]
    case "assistant": {
      const calls = turn.calls.map(({ id, name, input }) => ({
        type: "function_call",
        call_id: id,
        name,
        arguments: JSON.stringify(input),
      }))
      const content = [{ type: "output_text", text: turn.text, annotations: [] }]
      return turn.text === undefined ? calls : [{ type: "message", role: "assistant", content }, ...calls]
    }
  }
}

function inputPart(part: Part): Json {
  if (part.kind === "text") return { type: "input_text", text: part.text }
  if (part.kind === "image") return { type: "input_image", image_url: part.url }
  return { type: "input_file", filename: part.name, file_data: part.data }
}

function toMessages(conversation: Conversation): Json {
  const { system, turns, tools, schema, effort, thinkingTokens, userId } = conversation
  return defined({
    system,
    messages: joinResults(turns.map(messagesTurn)),
    max_tokens: conversation.maxTokens,
    tools: tools?.map(({ parameters, ...tool }) => ({ ...tool, input_schema: parameters })),
    tool_choice: messagesChoice(conversation),
    stop_sequences: conversation.stop,
    output_config: (schema ?? effort) && defined({ format: schema && { type: "json_schema", schema }, effort }),
    thinking: thinkingTokens && { type: "enabled", budget_tokens: thinkingTokens },
    metadata: userId === undefined ? undefined : { user_id: userId },
  })
}

/** Sequential calls can only be requested in a choice; `auto` is the default. */
function messagesChoice({ toolChoice, isParallel }: Conversation): Json | undefined {
  const one = isParallel === false ? { disable_parallel_tool_use: true } : {}
  if (toolChoice === undefined) return isParallel === false ? { type: "auto", ...one } : undefined
  if (typeof toolChoice === "object") return { type: "tool", name: toolChoice.name, ...one }
  return { type: toolChoice === "required" ? "any" : toolChoice, ...one }
}

type Message = { role: string; content: string | Json[] }

function messagesTurn(turn: Turn): Message {
  switch (turn.role) {
    case "system":
    case "developer":
      return { role: turn.role, content: turn.text }
    case "tool": {
      const result = contentOf(turn.result, blockOf)
      return { role: "user", content: [{ type: "tool_result", tool_use_id: turn.id, content: result }] }
    }
    case "user":
      return { role: "user", content: contentOf(turn.content, blockOf) }
    case "assistant": {
      const calls = turn.calls.map((call) => ({ type: "tool_use", ...call }))
      if (calls.length === 0) return { role: "assistant", content: turn.text ?? "" }
      const text = turn.text === undefined ? [] : [{ type: "text", text: turn.text }]
      return { role: "assistant", content: [...text, ...calls] }
    }
  }
}

/** Results of parallel calls are in one message here, with the blocks that the user sends next. */
function joinResults(messages: Message[]): Message[] {
  const joined: Message[] = []
  for (const message of messages) {
    const last = joined.at(-1)
    const blocks = last && isResults(last) ? blocksOf(last) : []
    const added = message.role === "user" ? blocksOf(message) : []
    if (last && blocks.length > 0 && added.length > 0) last.content = [...blocks, ...added]
    else joined.push(message)
  }
  return joined
}

const blocksOf = ({ content }: Message) => (typeof content === "string" ? [] : content)
const isResults = (message: Message) => blocksOf(message).at(-1)?.["type"] === "tool_result"

function blockOf(part: Part): Json {
  if (part.kind === "text") return { type: "text", text: part.text }
  const url = part.kind === "image" ? part.url : part.data
  const [, mediaType, data] = /^data:([^;]+);base64,(.*)$/.exec(url) ?? []
  const source = mediaType === undefined ? { type: "url", url } : { type: "base64", media_type: mediaType, data }
  return part.kind === "image" ? { type: "image", source } : { type: "document", title: part.name, source }
}

/** An upstream request without the differences that the formats allow. */
export function normalizeUpstream(body: Json, conversation: Conversation): Json {
  const { tool_choice: choice, ...rest } = body
  const isImplied = choice === "auto" && conversation.toolChoice === undefined
  const messages = Array.isArray(body["messages"]) ? body["messages"].map(normalizeMessage) : body["messages"]
  return { ...rest, ...(choice !== undefined && !isImplied && { tool_choice: choice }), messages }
}

/** One plain text is a string in some formats and a part in others. */
function normalizeMessage(message: Json): Json {
  const { content } = message
  const [only] = Array.isArray(content) ? (content as Json[]) : []
  const isText = Array.isArray(content) && content.length === 1 && only?.["type"] === "text"
  return isText ? { ...message, content: only["text"] } : message
}
