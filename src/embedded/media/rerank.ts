import { estimateTokens } from "../../support/tokens.ts"
import { toRecord } from "../chat-request.ts"

/** Sorts documents by the share of the query's words that they contain; ties keep their order. */
export function rerank(query: string, documents: readonly unknown[], top: number): Record<string, unknown> {
  const queryTokens = toTokens(query)
  const texts = documents.map(toText)
  const results = texts
    .map((text, index) => ({ index, relevance_score: shareOf(queryTokens, toTokens(text)) }))
    .sort((a, b) => b.relevance_score - a.relevance_score)
    .slice(0, top)
  const tokens = [query, ...texts].reduce((sum, text) => sum + estimateTokens(text), 0)
  return { results, usage: { search_units: 1, total_tokens: tokens } }
}

function toText(document: unknown): string {
  if (typeof document === "string") return document
  const { text } = toRecord(document)
  return typeof text === "string" ? text : ""
}

function toTokens(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu))
}

function shareOf(queryTokens: ReadonlySet<string>, content: ReadonlySet<string>): number {
  return queryTokens.size === 0 ? 0 : [...queryTokens].filter((word) => content.has(word)).length / queryTokens.size
}
