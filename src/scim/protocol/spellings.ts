/** SQLite's lower() folds only ASCII letters. */
export function asciiLower(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
}

const isAscii = (text: string) => /^[\0-\x7f]*$/.test(text)

/**
 * How lower() of SQLite may return texts that differ from this one only in case or in the composition of letters: names
 * beyond ASCII are stored as a directory sent them. Undefined for ASCII, which lower() folds completely.
 */
export function spellingsOf(text: string): string[] | undefined {
  if (isAscii(text)) return undefined
  const cases = [text, text.toLowerCase(), text.toUpperCase()]
  return [...new Set(cases.flatMap((one) => [one, one.normalize("NFC"), one.normalize("NFD")]).map(asciiLower))]
}
