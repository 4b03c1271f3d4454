/** What stands in the place of what an own filter redacts: its label, in brackets. */
export function ownLabel(label: string | null | undefined): string {
  if (label == null || label === "") return "[REDACTED]"
  return /^\[.*\]$/s.test(label) ? label : `[${label}]`
}
