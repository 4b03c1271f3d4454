import { decodeBase64 } from "../../support/encoding.ts"
import type { Part, Scanned } from "./detector.ts"
import { lazyProgram } from "../content/program.ts"
import type { Literal } from "../prefilter/literals.ts"
import { bestGroup, requiredOf } from "../prefilter/required.ts"
import { INNER_FORMATS, KEY_FORMATS } from "./secret-formats.ts"
import { kindOf, NAMED, NAMED_SOURCES, NAMES } from "./secret-names.ts"
import { isFilled, isPlaceholder, isRandom, isSecret } from "./secret-values.ts"

const OPENINGS = [...new Set(KEY_FORMATS.map(([opening]) => opening))]
const openingsOf = (source: string) => requiredOf(source).openings ?? []
/** Short openings occur inside words: `sk-` in `task-`. */
const isShort = (opening: string) => openingsOf(opening).some((literal) => literal.length < 4)
const SHORT = OPENINGS.filter(isShort)
const LONG = OPENINGS.filter((opening) => !isShort(opening))
const anyOf = (sources: readonly string[]) => `(?:${sources.join("|")})`
/** A key may follow `\n` in escaped text. */
const BEFORE = "(?:\\b|_|\\\\[nrt])"
const OF_KEYS = "[\\w.~+/=%-]{8,}"

const mark = (word: string) => `-----${word} (?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----`
const BREAK = "[\\s\\\\\"'`,+>|#*;]*(?:\\\\[nrt][\\s\\\\\"'`,+>|#*;]*)*"
const HEADER = "[A-Z][A-Za-z-]{2,20}: [^\\n\\\\]*"
/** A private key up to its end mark, or the part that is there. */
const PEM = `${mark("BEGIN")}(?:${BREAK}(?:${HEADER}|[A-Za-z0-9+/=]{16,}))*(?:${BREAK}(?:[A-Za-z0-9+/=_-]{1,16}${BREAK})?${mark("END")}|${BREAK}[A-Za-z0-9+/]{1,15}={1,2})?`

const URL_PASSWORD = "\\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\\s:/@'\"`<>]*:[^\\s/@'\"`<>]+@[\\w.-]+"
const DRIVER_PASSWORD = "\\b[\\w.-]+:[^\\s:@/'\"`<>]+@(?:tcp|unix)\\("
const COMMAND =
  "\\b(?:curl|wget|http|https) [^\\n]{0,60}(?:-u|--user|-a|--auth)[ =]{0,2}['\"]?[^\\s:'\"]+:[^\\s'\"]{4,}"
const SCHEME = "(?i:bearer|basic|ssws|geniekey) [A-Za-z0-9._~+/=-]{8,}"

const OTHERS = [
  "https://hooks\\.slack(?:-gov)?\\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_+-]{20,}",
  "https://(?:ptb\\.|canary\\.)?discord(?:app)?\\.com/api/(?:v\\d+/)?webhooks/\\d{17,20}/[\\w-]{40,}",
  "https://[\\w.-]+\\.webhook\\.office\\.com/[\\w@/-]{40,}",
  "https://hooks\\.zapier\\.com/hooks/catch/\\d+/\\w+",
  "(?:\\b|_|\\\\[nrt])(?:bot)?\\d{8,10}:A[\\w-]{33,35}",
  "\\bsshpass -p ?['\"]?[^\\s'\"]{4,}",
  `(?i:https?)://[0-9a-f]{32}(?::[0-9a-f]{32})?@[\\w.-]+/\\d+`,
]

const NAMED_ANY = NAMED_SOURCES.map((source) => `(?i:${source})`)
const inner = INNER_FORMATS.map((format) => `${BEFORE}${format}`)
const KEYS = [
  `${BEFORE}${anyOf(OPENINGS)}${OF_KEYS}`,
  ...inner,
  URL_PASSWORD,
  DRIVER_PASSWORD,
  COMMAND,
  SCHEME,
  ...OTHERS,
  ...NAMED_ANY,
]

const literalsOf = (source: string): Literal[] => (bestGroup(requiredOf(source).groups) ?? []).map((text) => ({ text }))

const FORMATS = new RegExp(
  [
    ...KEY_FORMATS.map(([opening, rest]) => `(?<=^|[^A-Za-z0-9]|\\\\[nrt])${opening}${rest}`),
    ...INNER_FORMATS.map((format) => `(?<=^|[^A-Za-z0-9]|\\\\[nrt])${format}`),
    ...OTHERS.map((one) => one.replaceAll(/\(\?i:/g, "(?:")),
  ].join("|"),
  "g",
)
const WHOLE_PEM = new RegExp(PEM, "g")
const WITH_PASSWORD = new RegExp(`${URL_PASSWORD}|${DRIVER_PASSWORD}`, "g")
const OF_COMMAND = new RegExp(`^${COMMAND}`)
const OF_SCHEME = /(?<=^|[^\w])(bearer|basic|ssws|geniekey) ([A-Za-z0-9._~+/=-]{8,})/gi

/**
 * Keys, tokens and passwords. The program finds candidate stretches; `refine` searches each for all secrets, so that a
 * rejected candidate cannot hide another.
 */
export const secrets: Scanned = {
  name: "secrets",
  engine: "secrets",
  label: "[SECRET]",
  program: lazyProgram([...KEYS, PEM].join("|")),
  limit: 262_144,
  signs: {
    literals: [
      ...SHORT.flatMap((opening) =>
        openingsOf(opening).map((text): Literal => ({
          text,
          starts: true,
          ...(isCapital(opening) && { isUpper: true }),
        })),
      ),
      ...LONG.flatMap(openingsOf).map((text): Literal => ({ text })),
      ...[...inner, URL_PASSWORD, DRIVER_PASSWORD, COMMAND, SCHEME, ...OTHERS, ...NAMED_ANY, PEM].flatMap(literalsOf),
    ],
  },
  without: {
    literal: "private key",
    program: lazyProgram([...KEYS, "-----BEGIN (?:[A-Z0-9]{2,12} ){0,3}"].join("|")),
  },
  // A command has up to 60 characters before its password. Other matches start with their sign.
  lead: 128,
  refine(match, before) {
    const parts: Part[] = []
    const add = (from: number, to: number) => {
      const isInside = parts.some((part) => part[0] <= from && part[1] >= to)
      if (!isInside) parts.push([from, to])
    }
    for (const { index, 0: pem } of match.matchAll(WHOLE_PEM)) add(index, index + pem.length)
    for (const { index, 0: key } of match.matchAll(FORMATS)) if (isFilled(key)) add(index, index + key.length)
    for (const { index, 0: url } of match.matchAll(WITH_PASSWORD)) if (hasPassword(url)) add(index, index + url.length)
    for (const found of match.matchAll(OF_SCHEME)) {
      const [whole, scheme = "", value = ""] = found
      const from = found.index + whole.length - value.length
      if (isCredential(scheme, value)) add(from, from + trimmed(value).length)
    }
    if (OF_COMMAND.test(match) && !isPlaceholder(match.slice(match.lastIndexOf(":") + 1))) add(0, match.length)
    for (const [from, to] of named(match, before)) add(from, to)
    return parts
  },
}

/** Whether all variants start with a capital letter. */
function isCapital(opening: string): boolean {
  return opening
    .replace("(?:", "")
    .split("|")
    .every((form) => /^[A-Z]/.test(form))
}

/** Text between a name and a value that links them. */
const GIVES = /[=:：>|"'`]|\b(?:is|was|ist|lautet|war|est|es|era|jest|login|equals|be|value|to|reads)\b|[^\p{ASCII}]/iu

/** All values after names in a stretch. */
function named(match: string, before: string): Part[] {
  const parts: Part[] = []
  for (const { index } of match.matchAll(NAMES)) {
    for (const shape of NAMED) {
      shape.lastIndex = index
      const found = shape.exec(match)
      if (!found) continue
      const [whole, name = "", gap = "", written = ""] = found
      const text = index === 0 ? before : match.slice(0, index)
      const kind = kindOf(`${/(?:[\w.-]+ ){0,2}[\w.-]*$/.exec(text)?.[0] ?? ""}${name}`)
      const isGiven = GIVES.test(gap)
      const value = valueOf(written, gap)
      if (!kind || !isSecret(kind, value, isGiven)) continue
      const from = index + whole.length - written.length
      parts.push([from, from + value.length])
      break
    }
  }
  return parts
}

/** Strips trailing punctuation of a sentence or of code, and the next part of a connection string. */
function valueOf(written: string, gap: string): string {
  if (/["'`]$/.test(gap)) return written
  return trimmed(written.replace(/(?<=.)(?:[;&,][\w .-]+=.*|;$)/s, ""))
}

function trimmed(value: string): string {
  return value.replace(/[.,;:)\]}\\]+$/, "")
}

const EXAMPLE_PASSWORDS =
  /^(?:pass(?:word|wd)?\d*|pwd|pw|secret|changeme|example|test|token|guest|admin|root|user|postgres|mysql|mongo|redis|dev|pass123|password123|xxx+|\*+|\.+|…|<.*>|\$.*|%.*|\{.*|\[.*)$/i

/** Whether a URL has a password that is not a placeholder. */
function hasPassword(url: string): boolean {
  const [, user = "", password = ""] = /^(?:[^/]*\/\/)?([^:/@]*):([^@]*)@/.exec(url) ?? []
  return password !== "" && password !== user && !EXAMPLE_PASSWORDS.test(password) && !isPlaceholder(password)
}

function isCredential(scheme: string, value: string): boolean {
  if (/^basic$/i.test(scheme)) {
    const bytes = decodeBase64(value.replace(/=+$/, ""))
    const text = bytes && new TextDecoder().decode(bytes)
    if (text !== undefined && /^[\x20-\x7e]+:[\x20-\x7e]+$/.test(text)) return true
  }
  return isRandom(value, 14) && !isPlaceholder(value)
}
