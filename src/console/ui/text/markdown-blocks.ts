import { marked, type Token } from "marked"

/** A Markdown text and its blocks. */
export type Lexed = { text: string; blocks: readonly Token[] }

/** The last blocks may change when text is appended: a paragraph may become a heading, a row a table. */
const OPEN_BLOCKS = 3

export function lex(text: string): Lexed {
  // Same normalization as in the lexer, so that the blocks cover the text.
  const normal = text.replaceAll(/\r\n?/g, "\n")
  return { text: normal, blocks: marked.lexer(normal) }
}

/**
 * The blocks of a text that grows at its end: those that are complete are kept, as the same objects. A reference to a
 * link whose definition is far away stays as it is written until `lex` reads the complete text.
 */
export function lexMore(before: Lexed, text: string): Lexed {
  const normal = text.replaceAll(/\r\n?/g, "\n")
  if (normal === before.text) return before
  const unchanged = normal.startsWith(before.text) ? before.blocks.slice(0, -OPEN_BLOCKS) : []
  const length = unchanged.reduce((sum, { raw }) => sum + raw.length, 0)
  const covered = unchanged.map(({ raw }) => raw).join("")
  if (!normal.startsWith(covered)) return { text: normal, blocks: marked.lexer(normal) }
  return { text: normal, blocks: [...unchanged, ...marked.lexer(normal.slice(length))] }
}
