import { signal, type Signal } from "@preact/signals"
import { onUserChange } from "./session.ts"

const drafts = new Map<string, Signal<object>>()
onUserChange(() => drafts.clear())

/** Fields of an object that were edited and not saved. They outlast the page: links and Back do not discard them. */
export function draftOf<T extends object>(key: string): Signal<Partial<T>> {
  const known = drafts.get(key) ?? signal<object>({})
  drafts.set(key, known)
  return known
}
