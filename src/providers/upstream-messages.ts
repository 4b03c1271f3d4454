import { isArray, isObject, type Json, objectsOf } from "../support/text/json.ts"
import { shortHash } from "../support/hash.ts"
import { readDetails, textOf } from "../formats/responses/reasoning-details.ts"
import type { Provider, Quirks } from "./provider.ts"

/** Adapts the messages of a request to what a provider of the chat format accepts. Unchanged messages stay the same. */
export function toUpstreamMessages(messages: readonly Json[], { quirks }: Provider, upstreamId: string): Json[] {
  const field = quirks.reasoningField ?? (quirks.isStrict ? undefined : "reasoning_content")
  const isQwen = /qwen|qwq/i.test(upstreamId)
  const instructed = quirks.takesDeveloper && !isQwen ? messages : withSystemFirst(messages, isQwen)
  const reasoned = field ? instructed.map((message) => withReasoning(message, field, quirks)) : [...instructed]
  const plain = quirks.takesToolMedia ? reasoned : withoutToolMedia(reasoned)
  const spoken = quirks.needsStringContent ? plain.map(withStringContent) : plain
  if (quirks.signsCalls && /gemini-(?:[3-9]|\d\d)/.test(upstreamId)) return spoken.map(withSignature)
  return isMistral(upstreamId) ? inMistralOrder(spoken) : spoken
}

/**
 * Most providers know only the role `system`. Templates of model servers accept one such message, which is the first;
 * those of Qwen none after it.
 */
function withSystemFirst(messages: readonly Json[], isQwen: boolean): readonly Json[] {
  const first = messages.findIndex(({ role }) => !isInstruction(role))
  const end = first === -1 ? messages.length : first
  const later = messages.slice(end)
  const isChanged = end > 1 || messages[0]?.["role"] === "developer" || later.some(({ role }) => isInstruction(role))
  if (!isChanged) return messages
  const hoisted = isQwen ? later.filter(({ role }) => isInstruction(role)) : []
  const rest = isQwen ? later.filter(({ role }) => !isInstruction(role)) : later.map(toSystem)
  const [head, ...others] = [...messages.slice(0, end), ...hoisted]
  if (!head) return rest
  const content = others.reduce((joined: unknown, other) => join(joined, other["content"]), head["content"])
  return [{ ...head, role: "system", content }, ...rest]
}

function isInstruction(role: unknown): boolean {
  return role === "system" || role === "developer"
}

function toSystem(message: Json): Json {
  return message["role"] === "developer" ? { ...message, role: "system" } : message
}

function join(first: unknown, second: unknown): unknown {
  if (typeof first === "string" && typeof second === "string") return `${first}\n\n${second}`
  return [...toParts(first), ...toParts(second)]
}

function withStringContent(message: Json): Json {
  const { content } = message
  if (content === null || content === undefined) return { ...message, content: "" }
  if (!isArray(content) || !content.every(isText)) return message
  return {
    ...message,
    content: objectsOf(content)
      .map((part) => part["text"] ?? part["refusal"])
      .join("\n"),
  }
}

/**
 * Model servers read the reasoning of earlier turns from `reasoning_content`. Some reject a turn without it, and accept
 * a space.
 */
function withReasoning(message: Json, field: string, { requiresReasoning }: Quirks): Json {
  const { role, [field]: present } = message
  if (role !== "assistant" || (typeof present === "string" && present !== "")) return message
  const text = readDetails(message).map(textOf).join("")
  if (text !== "") return { ...message, [field]: text }
  return requiresReasoning ? { ...message, [field]: " " } : message
}

/**
 * OpenAI and most servers of its format accept only text in the result of a tool. Images and files go to the user's
 * message after the results, which is created if it is missing.
 */
function withoutToolMedia(messages: Json[]): Json[] {
  if (!messages.some(hasToolMedia)) return messages
  const result: Json[] = []
  let media: Json[] = []
  for (const message of messages) {
    if (message["role"] !== "tool" && media.length > 0) {
      const follows = message["role"] === "user"
      const content = follows ? toParts(message["content"]) : []
      result.push({ ...(follows && message), role: "user", content: [...media, ...content] })
      media = []
      if (follows) continue
    }
    if (!hasToolMedia(message)) {
      result.push(message)
      continue
    }
    const parts = objectsOf(message["content"])
    const text = parts.filter(isText)
    media.push({ type: "text", text: `Result of the tool call ${String(message["tool_call_id"])}:` })
    media.push(...parts.filter((part) => !isText(part)))
    result.push({ ...message, content: text.length > 0 ? text : "The result is in the next message of the user." })
  }
  return media.length > 0 ? [...result, { role: "user", content: media }] : result
}

function hasToolMedia({ role, content }: Json): boolean {
  return role === "tool" && isArray(content) && content.some((part) => !isText(part))
}

function isText(part: unknown): boolean {
  return isObject(part) && (part["type"] === "text" || part["type"] === "refusal")
}

function toParts(content: unknown): Json[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : objectsOf(content)
}

/** Google accepts this for a call that another model made: https://ai.google.dev/gemini-api/docs/thought-signatures */
const NO_SIGNATURE = "skip_thought_signature_validator"

/** The first call of a turn has the signature. */
function withSignature(message: Json): Json {
  const [first, ...others] = objectsOf(message["tool_calls"])
  if (!first) return message
  const extra = isObject(first["extra_content"]) ? first["extra_content"] : {}
  const google = isObject(extra["google"]) ? extra["google"] : {}
  if (typeof google["thought_signature"] === "string" && google["thought_signature"] !== "") return message
  const signed = { ...extra, google: { ...google, thought_signature: NO_SIGNATURE } }
  return { ...message, tool_calls: [{ ...first, extra_content: signed }, ...others] }
}

/** Mistral's models have the same rules on every server. */
function isMistral(upstreamId: string): boolean {
  return /(?:mis|minis|codes|devs|magis)tral|(?:mix|pix|vox)tral/i.test(upstreamId)
}

const CALL_ID_LENGTH = 9
/** The turn that Mistral's templates require between the result of a tool and a user. */
const BRIDGE = { role: "assistant", content: "Understood." }

/** Mistral rejects a user after a tool, and ids of calls that are not 9 letters or digits. */
function inMistralOrder(messages: readonly Json[]): Json[] {
  return messages.flatMap((message, at) => {
    const isAfterTool = message["role"] === "user" && messages[at - 1]?.["role"] === "tool"
    return [...(isAfterTool ? [BRIDGE] : []), withCallIds(message)]
  })
}

function withCallIds(message: Json): Json {
  const { role, tool_call_id: id, tool_calls: calls } = message
  if (role === "tool") return { ...message, tool_call_id: toCallId(String(id)) }
  if (!isArray(calls)) return message
  return { ...message, tool_calls: objectsOf(calls).map((call) => ({ ...call, id: toCallId(String(call["id"])) })) }
}

/** Equal ids stay equal. */
function toCallId(id: string): string {
  if (/^[a-zA-Z0-9]{9}$/.test(id)) return id
  const [first, second] = [shortHash(id), shortHash(`${id} `)]
  return `${first}${second}`.slice(0, CALL_ID_LENGTH)
}
