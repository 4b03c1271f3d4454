/** Texts of requests that are no conversations, for content logging and destinations. */

/** Limit of all texts in characters, so that content goes to the ledger with the settlement, not to R2. */
const MAX_TEXT = 12_000

type Message = { role: "system" | "user"; content: string }

/** The texts as messages, from the first one up to the limit; undefined if there are none. */
export function promptMessages(texts: readonly string[], instructions?: string | null): Message[] | undefined {
  const messages: Message[] = instructions ? [{ role: "system", content: instructions.slice(0, MAX_TEXT) }] : []
  let room = MAX_TEXT - (instructions?.length ?? 0)
  for (const [at, text] of texts.entries()) {
    if (text === "") continue
    if (text.length > room) {
      const omitted = texts.length - at - 1
      const more = omitted > 0 ? `, and ${omitted} more` : ""
      messages.push({
        role: "user",
        content: `${text.slice(0, Math.max(0, room))}[… of ${text.length} characters${more}]`,
      })
      break
    }
    room -= text.length
    messages.push({ role: "user", content: text })
  }
  return messages.length === 0 ? undefined : messages
}
