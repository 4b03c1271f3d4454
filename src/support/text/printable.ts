/**
 * Control characters, line separators and characters that reverse the text direction, as part of a character class that
 * every regular expression engine reads.
 */
export const CONTROLS = String.raw`\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069`
const CONTROL = new RegExp(String.raw`[${CONTROLS}\p{Surrogate}]`, "gu")

/**
 * One line of text that cannot move the cursor of a terminal or reverse its text: names of keys and models come from
 * clients.
 */
export function printableLine(line: string): string {
  return line.replaceAll(CONTROL, "\ufffd")
}

export function withoutControls(text: string): string {
  return text.replaceAll(CONTROL, "")
}

/** A display name of another system as one line. */
export function toPrintableLine(text: string): string {
  return text.replaceAll(CONTROL, " ").trim()
}

export const isPrintableLine = (text: string): boolean => printableLine(text) === text

/** The same for text with several lines. */
export function printable(text: string): string {
  return text.split("\n").map(printableLine).join("\n")
}
