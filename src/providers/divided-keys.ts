import { isArray, isObject, type Json } from "../support/text/json.ts"

/** Longer than the public prefixes of keys, such as `sk-ant-api03-`. */
const MAX_REVEALED = 16
const PLACEHOLDER = "[redacted]"
/** Fields that clients read are not deeper. */
const MAX_DEPTH = 32
const BACKSLASH = 0x5c

/** Strings in the bytes of an event: the path of each, and where it starts and ends. */
export type StringSpans = { readonly paths: readonly string[]; readonly spans: readonly number[] }

/** Finds a key in text that arrives in pieces (Knuth, Morris and Pratt). */
export class KeySearch {
  /** A start of a key of this length is sent: at most half of the key. */
  readonly revealed: number
  /** The first character of the key. */
  readonly first: string
  readonly #units: readonly number[]
  /** By length of a match: the length of the longest shorter one with which it ends. */
  readonly #shorter: readonly number[]

  constructor(key: string) {
    this.revealed = Math.min(MAX_REVEALED, Math.floor(key.length / 2))
    this.first = key.charAt(0)
    this.#units = Array.from({ length: key.length }, (_, at) => key.charCodeAt(at))
    const shorter = [0]
    this.#shorter = shorter
    for (let at = 1; at < key.length; at += 1) shorter.push(this.next(shorter[at - 1] ?? 0, this.#units[at] ?? 0))
  }

  /** How much of the key a text ends with, if it ended with `matched` units of it before this unit. */
  next(matched: number, unit: number): number {
    let length = matched
    while (length > 0 && this.#units[length] !== unit) length = this.#shorter[length - 1] ?? 0
    return this.#units[length] === unit ? length + 1 : 0
  }
}

/**
 * Finds a key that a provider divides between the events of one stream, such as between two pieces of text. Delays
 * nothing: the start of a key is sent, and what continues it is replaced.
 */
export class DividedKey {
  readonly #search: KeySearch
  /** By path of a string: how much of the key its texts so far end with. Absent for nothing. */
  readonly #matched = new Map<string, number>()
  /** Names and indexes that lead to the current value of `clean`. */
  readonly #path: string[] = []
  /** The result of `isClean` for each string. */
  readonly #next: number[] = []

  constructor(search: KeySearch) {
    this.#search = search
  }

  /** Whether the strings of an event contain nothing that continues a key. Otherwise `clean` must read the event. */
  isClean(bytes: Uint8Array, { paths, spans }: StringSpans): boolean {
    for (let index = 0; index < paths.length; index += 1) {
      const matched = this.#matched.size === 0 ? 0 : (this.#matched.get(paths[index] ?? "") ?? 0)
      const after = this.#afterBytes(matched, bytes, { from: spans[2 * index] ?? 0, to: spans[2 * index + 1] ?? 0 })
      if (after === -1) return false
      this.#next[index] = after
    }
    return true
  }

  /** Remembers the strings that `isClean` read. */
  advance({ paths }: StringSpans): void {
    for (const [index, path] of paths.entries()) this.#remember(path, this.#next[index] ?? 0)
  }

  /** The event without what continues a key; the same object if nothing changed. */
  clean(event: Json): Json {
    return this.#cleanObject(event)
  }

  /** -1 if a key continues, or if that depends on an escape. */
  #afterBytes(before: number, bytes: Uint8Array, { from, to }: { from: number; to: number }): number {
    const search = this.#search
    let matched = before
    for (let at = from; at < to; at += 1) {
      const byte = bytes[at] ?? 0
      if (byte === BACKSLASH && matched > 0) return -1
      matched = search.next(matched, byte)
      if (matched > search.revealed) return -1
    }
    return matched
  }

  #remember(path: string, matched: number): void {
    if (matched > 0) this.#matched.set(path, matched)
    else if (this.#matched.size > 0) this.#matched.delete(path)
  }

  #cleanObject(fields: Json): Json {
    let copy: Json | undefined
    for (const name in fields) {
      const value = fields[name]
      const cleaned = this.#cleanValue(value, name)
      if (cleaned !== value) copy = { ...(copy ?? fields), [name]: cleaned }
    }
    return copy ?? fields
  }

  #cleanArray(items: readonly unknown[]): readonly unknown[] {
    let copy: unknown[] | undefined
    for (let at = 0; at < items.length; at += 1) {
      const cleaned = this.#cleanValue(items[at], String(at))
      if (cleaned === items[at]) continue
      copy ??= [...items]
      copy[at] = cleaned
    }
    return copy ?? items
  }

  #cleanValue(value: unknown, name: string): unknown {
    if (typeof value !== "string" && typeof value !== "object") return value
    this.#path.push(name)
    const cleaned = this.#cleanAtPath(value)
    this.#path.pop()
    return cleaned
  }

  #cleanAtPath(value: unknown): unknown {
    if (typeof value === "string") return this.#cleanText(value)
    if (this.#path.length > MAX_DEPTH) return value
    if (isArray(value)) return this.#cleanArray(value)
    return isObject(value) ? this.#cleanObject(value) : value
  }

  #cleanText(text: string): string {
    const search = this.#search
    // The path is joined only for the few strings that end with a part of the key, or follow one.
    let matched = this.#matched.size === 0 ? 0 : (this.#matched.get(this.#joinedPath()) ?? 0)
    const start = matched === 0 ? text.indexOf(search.first) : 0
    if (start === -1) return text
    const before = matched
    let clean: string | undefined
    for (let at = start; at < text.length; at += 1) {
      matched = search.next(matched, text.charCodeAt(at))
      if (matched > search.revealed) clean ??= text.slice(0, at)
      if (clean === undefined) continue
      if (matched === search.revealed + 1) clean += PLACEHOLDER
      else if (matched <= search.revealed) clean += text[at] ?? ""
    }
    if (before > 0 || matched > 0) this.#remember(this.#joinedPath(), matched)
    return clean ?? text
  }

  /** In the form of StringSpans. */
  #joinedPath(): string {
    return `.${this.#path.join(".")}`
  }
}
