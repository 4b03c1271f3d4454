/** The text of a list field for an empty list, since a field without text has no list: `null`. */
export const EMPTY_LIST = "none"

export function toListText(list: readonly string[] | null, separator = ", "): string {
  return list?.length === 0 ? EMPTY_LIST : (list ?? []).join(separator)
}

/** Entries are separated by commas or line breaks. */
export function readList(text: string): string[] | null {
  if (text.trim() === EMPTY_LIST) return []
  const entries = text
    .split(/[\n,]/)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "")
  return entries.length > 0 ? entries : null
}
