/** What is kept of an answer while it is read. */
export type Transcript = { content: string; reasoning: string }

/** More than this of an answer is not kept, in UTF-16 units. */
export const MAX_TRANSCRIPT = 1_000_000

export function appendText(phrase: Transcript, kind: keyof Transcript, text: string): void {
  const room = MAX_TRANSCRIPT - phrase.content.length - phrase.reasoning.length
  if (room > 0) phrase[kind] += text.slice(0, room)
}
