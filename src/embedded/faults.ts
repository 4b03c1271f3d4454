/** Scripted faults: how each differs from a correct response. */
export interface Fault {
  /** Replaces the complete response. */
  instead?: "nothing" | "page" | "error"
  /** Fault after the first ten pieces. */
  afterTen?: "error" | "break" | "stall"
  done?: false
  usage?: "none" | "zero" | "odd" | "cached"
  lines?: "crlf" | "comments"
  split?: "bytes" | "characters"
  keys?: "null" | "missing"
}

const faults: Readonly<Record<string, Fault>> = {
  empty: { instead: "nothing" },
  html: { instead: "page" },
  "first-frame-error": { instead: "error" },
  "late-error": { afterTen: "error" },
  cut: { afterTen: "break" },
  stall: { afterTen: "stall" },
  "no-done": { done: false },
  "no-usage": { usage: "none" },
  "zero-usage": { usage: "zero" },
  "odd-usage": { usage: "odd" },
  "cached-tokens": { usage: "cached" },
  crlf: { lines: "crlf" },
  comments: { lines: "comments" },
  "byte-chunks": { split: "bytes" },
  "split-utf8": { split: "characters" },
  "null-usage": { keys: "null" },
  "bare-chunks": { keys: "missing" },
}

export function findFault(slug: string): Fault | undefined {
  return Object.hasOwn(faults, slug) ? faults[slug] : undefined
}

/** The bare error frame of a provider that fails after status 200. */
export const overloaded = { error: { message: "The model is overloaded.", type: "server_error", code: 503 } }

export const portalPage = `<!doctype html>
<html><head><title>Service portal</title></head><body><h1>Service portal</h1><p>Please sign in.</p></body></html>
`
