/** The fields that differ: a request with only these keeps what another user changed meanwhile. */
export function changesOf<T extends object>(before: T, after: T): Partial<T> {
  const old = new Map(Object.entries(before).map(([name, value]) => [name, JSON.stringify(value)]))
  const changed = Object.entries(after).filter(([name, value]) => old.get(name) !== JSON.stringify(value))
  return Object.fromEntries(changed) as Partial<T>
}
