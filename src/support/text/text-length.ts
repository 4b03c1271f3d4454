/** Whether a text has more characters than `max`. Counts code points, like the schemas. */
export function isLongerThan(text: string, max: number): boolean {
  if (text.length <= max) return false
  if (text.length > 2 * max) return true
  let count = 0
  for (const _ of text) if (++count > max) return true
  return false
}
