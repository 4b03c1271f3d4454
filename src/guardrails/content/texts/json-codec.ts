import type { TextCodec } from "./text-codec.ts"
import { elementAt } from "../../../support/arrays.ts"

/** `structure`: syntax that redaction must keep; `bare`: a number or literal outside of strings. */
type Kind = "string" | "bare" | "structure"

const ESCAPES: Record<string, string> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" }
const STRUCTURE = new Set(['"', "{", "}", "[", "]", ",", ":", " ", "\n", "\r", "\t"])

/**
 * Decodes the strings of a JSON document that arrives in pieces, so that detectors see characters instead of escapes:
 * `\n` before a name would be read as a letter, and an escaped character would hide a match. Replacements keep the
 * document valid JSON.
 */
export function jsonCodec(): TextCodec {
  /** For each unit of decoded text: its escaped form, and its kind. */
  let escaped: string[] = []
  let kinds: Kind[] = []
  let base = 0
  let isInString = false
  let escape = ""

  const decode = (char: string): string => {
    if (escape !== "") {
      escape += char
      const isLong = escape[1] === "u"
      if (escape.length < (isLong ? 6 : 2)) return ""
      const decoded = isLong ? String.fromCharCode(Number.parseInt(escape.slice(2), 16)) : (ESCAPES[char] ?? char)
      return append(escape, "string", decoded)
    }
    if (isInString && char === "\\") {
      escape = char
      return ""
    }
    if (char === '"') {
      isInString = !isInString
      return append(char, "structure", char)
    }
    return append(char, isInString ? "string" : STRUCTURE.has(char) ? "structure" : "bare", char)
  }
  const append = (raw: string, kind: Kind, decoded: string): string => {
    escaped.push(raw)
    kinds.push(kind)
    escape = ""
    return decoded
  }

  return {
    isExpensive: true,
    decode(piece, isLast) {
      let text = ""
      for (let at = 0; at < piece.length; at++) text += decode(piece.charAt(at))
      if (isLast && escape !== "") text += append(escape, "structure", " ")
      return text
    },
    slice: (from, to) => escaped.slice(from - base, to - base).join(""),
    replace(from, to, label) {
      const quoted = JSON.stringify(label)
      let out = ""
      let last: Kind = "structure"
      for (let at = from - base; at < to - base; at++) {
        const kind = elementAt(kinds, at)
        if (kind === "structure") out += escaped[at]
        else if (kind !== last) out += kind === "string" ? quoted.slice(1, -1) : quoted
        last = kind
      }
      return out
    },
    discard(before) {
      if (before - base < 1_024) return
      escaped = escaped.slice(before - base)
      kinds = kinds.slice(before - base)
      base = before
    },
  }
}
