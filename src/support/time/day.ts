/** The UTC day, as YYYY-MM-DD, of an instant in epoch milliseconds. */
export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}

/** Epoch milliseconds at which a day (YYYY-MM-DD) begins. */
export function startOf(day: string): number {
  return Date.parse(`${day}T00:00:00Z`)
}
