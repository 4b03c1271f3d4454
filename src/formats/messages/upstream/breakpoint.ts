import { isObject, type Json } from "../../../support/text/json.ts"
import type { Block } from "./content.ts"
import type { Turn } from "./turns.ts"

/** The API rejects a request with more. */
const MAX_BREAKPOINTS = 4
const UNCACHEABLE = ["thinking", "redacted_thinking"]

type Marked = { system: readonly Block[]; turns: readonly Turn[] }

/**
 * Applies `cache_control` of the request: a breakpoint on the last cacheable block of the conversation, or else of the
 * instructions. An existing breakpoint is kept, and none is added if the client already set the maximum.
 */
export function markLastBlock({ system, turns }: Marked, mark: Json | null | undefined, tools: unknown): Marked {
  if (!mark) return { system, turns }
  const blocks = [...system, ...turns.flatMap(({ content }) => content)]
  const marks = [...blocks, ...(Array.isArray(tools) ? tools : [])].filter(
    (block) => isObject(block) && block["cache_control"] !== undefined,
  )
  if (marks.length >= MAX_BREAKPOINTS) return { system, turns }
  const last = blocks.findLast(isCacheable)
  const markIn = (list: readonly Block[]) =>
    list.map((block) => (block === last ? { cache_control: mark, ...block } : block))
  return { system: markIn(system), turns: turns.map((turn) => ({ ...turn, content: markIn(turn.content) })) }
}

function isCacheable({ type, text }: Block): boolean {
  return !UNCACHEABLE.includes(type) && !(type === "text" && text === "")
}
