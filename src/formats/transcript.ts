/** What is kept of an answer while it is read. */
export type Words = { content: string; reasoning: string }

/** More than this of an answer is not kept, in UTF-16 units. */
export const MAX_WORDS = 1_000_000

export function addWords(words: Words, kind: keyof Words, text: string): void {
  const room = MAX_WORDS - words.content.length - words.reasoning.length
  if (room > 0) words[kind] += text.slice(0, room)
}
