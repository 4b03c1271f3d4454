import { isArray, isObject, type Json } from "../support/text/json.ts"
import { GatewayError } from "../errors/errors.ts"
import { estimatePromptTokens, UNITS_PER_TOKEN } from "../support/tokens.ts"
import { truncateMiddle } from "../server-tools/text.ts"
import { toUnits } from "./turns.ts"

type Estimate = (messages: readonly Json[]) => number

export type Compressed = {
  messages: Json[]
  /** Number of removed messages. */
  dropped: number
  /** Number of shortened messages. */
  shortened: number
}

/** Shorter texts are not cut: little more than the note would remain. */
const MIN_TEXT_LENGTH = 256

/**
 * Middle-out: what models attend to least is removed first. System messages and everything from the last user message
 * on are kept; of the rest, complete exchanges are removed from the middle outwards, a tool call always with its
 * results. Before that, a single message that would fill most of the budget is shortened in its middle; after it, if
 * necessary, so are the kept messages, longest text first, but never a system message.
 */
export function compress(
  messages: readonly Json[],
  budgetTokens: number,
  estimate: Estimate = estimatePromptTokens,
): Compressed {
  if (estimate(messages) <= budgetTokens) return { messages: [...messages], dropped: 0, shortened: 0 }
  const units = toUnits(messages)
  const droppable = units.filter(({ isKept }) => !isKept)
  const shortened = new Set<number>()
  const working = messages.map((message) => ({ ...message }))

  const room = Math.max(MIN_TEXT_LENGTH, Math.floor((budgetTokens * UNITS_PER_TOKEN) / 2))
  for (const index of droppable.flatMap((unit) => unit.members)) {
    if (shortenTexts(working, index, room)) shortened.add(index)
  }
  const order = middleFirst(droppable.map(({ members }) => members))
  const without = (count: number) => {
    const removed = new Set(order.slice(0, count).flat())
    return working.flatMap((message, index) => (removed.has(index) ? [] : [{ message, index }]))
  }
  const count = smallestFit(order.length, (dropped) => estimate(toMessages(without(dropped))) <= budgetTokens)
  const remaining = without(count)
  shortenKept(remaining, budgetTokens, estimate, shortened)
  const indexes = new Set(remaining.map(({ index }) => index))
  return {
    messages: toMessages(remaining),
    dropped: messages.length - remaining.length,
    shortened: [...shortened].filter((index) => indexes.has(index)).length,
  }
}

type Placed = { message: Json; index: number }

function toMessages(placed: readonly Placed[]): Json[] {
  return placed.map(({ message }) => message)
}

/** The oldest of the middle first, then outwards. */
function middleFirst<T>(items: readonly T[]): T[] {
  const center = (items.length - 1) / 2
  const order = items.map((item, index) => ({ item, index, distance: Math.abs(index - center) }))
  return order.sort((one, other) => one.distance - other.distance || one.index - other.index).map(({ item }) => item)
}

/** The smallest count for which `fits`, or `maxCount`. Removing more never makes a prompt longer. */
function smallestFit(maxCount: number, fits: (count: number) => boolean): number {
  let [low, high] = [0, maxCount]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (fits(middle)) high = middle
    else low = middle + 1
  }
  return low
}

function shortenKept(remaining: readonly Placed[], budget: number, estimate: Estimate, shortened: Set<number>): void {
  const messages = toMessages(remaining)
  for (let over = estimate(messages) - budget; over > 0; over = estimate(messages) - budget) {
    const { position, length } = longest(messages)
    if (length <= MIN_TEXT_LENGTH) throw tooLongError(budget + over, budget)
    const cut = Math.max((over + 1) * UNITS_PER_TOKEN, Math.ceil(length / 10))
    shortenTexts(messages, position, Math.max(MIN_TEXT_LENGTH, length - cut))
    const index = remaining[position]?.index
    if (index !== undefined) shortened.add(index)
  }
  for (const [position, placed] of remaining.entries()) placed.message = messages[position] ?? placed.message
}

function tooLongError(needed: number, budget: number): GatewayError {
  return new GatewayError(
    "invalid_request",
    `messages: even compressed, the system messages and the last turn need about ${needed} tokens, and there is room for ${budget}. Shorten them, request fewer tokens, or choose a model with a longer context.`,
  )
}

/** The message with the longest text that may be cut. */
function longest(messages: readonly Json[]): { position: number; length: number } {
  let found = { position: -1, length: 0 }
  for (const [position, message] of messages.entries()) {
    const length = isInstruction(message) ? 0 : Math.max(0, ...textsOf(message).map((text) => text.length))
    if (length > found.length) found = { position, length }
  }
  return found
}

function isInstruction({ role }: Json): boolean {
  return role === "system" || role === "developer"
}

function textsOf({ content }: Json): string[] {
  if (typeof content === "string") return [content]
  return Array.isArray(content) ? content.map(textOf).filter((text) => text !== undefined) : []
}

function textOf(part: unknown): string | undefined {
  return isObject(part) && typeof part["text"] === "string" ? part["text"] : undefined
}

/** Replaces the message with a copy with shorter texts. Returns whether one was too long. */
function shortenTexts(messages: Json[], position: number, maxLength: number): boolean {
  const message = messages[position]
  if (!message || !textsOf(message).some((text) => text.length > maxLength)) return false
  const { content } = message
  const cut =
    typeof content === "string"
      ? truncateMiddle(content, maxLength)
      : (isArray(content) ? content : []).map((part: unknown) =>
          isObject(part) && typeof part["text"] === "string"
            ? { ...part, text: truncateMiddle(part["text"], maxLength) }
            : part,
        )
  messages[position] = { ...message, content: cut }
  return true
}
