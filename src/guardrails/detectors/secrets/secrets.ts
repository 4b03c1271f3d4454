import { decodeBase64 } from "../../../support/text/encoding.ts"
import type { MatchRange, PatternDetector } from "../detector.ts"
import { lazyProgram } from "../../content/patterns/program.ts"
import type { Literal } from "../../prefilter/aho-corasick.ts"
import type { Triggers } from "../../prefilter/prefilter.ts"
import { mostSelectiveGroup, requiredLiterals } from "../../prefilter/required-literals.ts"
import { ENCODED_KEY, INNER_FORMATS, KEY_FORMATS } from "./secret-formats.ts"
import { CALL_SOURCES, callValues, VALUE_BEFORE_NAME, valuesBeforeNames } from "./secret-calls.ts"
import { COMMAND_SOURCES, commandValues, LOGIN_PASSWORD, loginPasswords } from "./secret-commands.ts"
import {
  COPULAS,
  kindOf,
  NAME_VALUE_PATTERNS,
  NAME_VALUE_SOURCES,
  SECRET_NAMES,
  SESSION_COOKIES,
  UNLINKED_PASSWORD,
} from "./secret-names.ts"
import {
  hasRealCharacters,
  isPlaceholder,
  isRandom,
  isFingerprint,
  isSecret,
  isStrongPassword,
  looksGenerated,
} from "./secret-values.ts"

const KEY_PREFIXES = [...new Set(KEY_FORMATS.map(([opening]) => opening))]
const prefixLiterals = (source: string) => requiredLiterals(source).prefixes ?? []
/** Short prefixes occur inside words: `sk-` in `task-`. */
const isShortPrefix = (opening: string) => prefixLiterals(opening).some((literal) => literal.length < 4)
const anyOf = (sources: readonly string[]) => `(?:${sources.join("|")})`
/** A key may follow `\n` in escaped text. */
const KEY_START = "(?:\\b|_|\\\\[nrt])"
const KEY_CHARACTERS = "[\\w.~+/=%-]{8,}"

const pemMarker = (word: string) => `-----${word} (?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----`
const PEM_BREAK = "[\\s\\\\\"'`,+>|#*;]*(?:\\\\[nrt][\\s\\\\\"'`,+>|#*;]*)*"
const PEM_HEADER = "[A-Z][A-Za-z-]{2,20}: [^\\n\\\\]*"
/** A private key up to its end marker, or the part that is there. */
const PEM = `${pemMarker("BEGIN")}(?:${PEM_BREAK}(?:${PEM_HEADER}|[A-Za-z0-9+/=]{16,}))*(?:${PEM_BREAK}(?:[A-Za-z0-9+/=_-]{1,16}${PEM_BREAK})?${pemMarker("END")}|${PEM_BREAK}[A-Za-z0-9+/]{1,15}={1,2})?`

const URL_PASSWORD = "\\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\\s:/@'\"`<>]*:[^\\s/@'\"`<>]+@(?:[\\w.-]+|/)"
const DRIVER_PASSWORD = "\\b[\\w.-]+:[^\\s:@/'\"`<>]+@(?:tcp|unix)\\("
const COMMAND =
  "\\b(?:curl|wget|http|https) [^\\n]{0,60}(?:-u|--user|-a|--auth)[ =]{0,2}['\"]?[^\\s:'\"]+:[^\\s'\"]{4,}"
const SCHEME = "(?i:bearer|basic|ssws|geniekey) [A-Za-z0-9._~+/=-]{8,}"

const OTHER_FORMATS = [
  "https://hooks\\.slack(?:-gov)?\\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_+-]{20,}",
  "https://(?:ptb\\.|canary\\.)?discord(?:app)?\\.com/api/(?:v\\d+/)?webhooks/\\d{17,20}/[\\w-]{40,}",
  "https://outlook\\.office(?:365)?\\.com/webhook/[\\w@/-]{40,}",
  "https://[\\w.-]+\\.webhook\\.office\\.com/[\\w@/-]{40,}",
  "https://hooks\\.zapier\\.com/hooks/catch/\\d+/(?:silent/)?\\w+/?",
  "https://open\\.(?:feishu\\.cn|larksuite\\.com)/open-apis/bot/v2/hook/[0-9a-f-]{36}",
  "https://chat\\.googleapis\\.com/v1/spaces/[\\w-]+/messages\\?key=[\\w%&=-]{40,}",
  "https://qyapi\\.weixin\\.qq\\.com/cgi-bin/webhook/send\\?key=[0-9a-f-]{36}",
  "https://[\\w.-]+/hooks/[a-z0-9]{26}\\b",
  "[?&]appid=[0-9a-f]{32}\\b",
  "otpauth://[^\\s\"'<>]{1,128}secret=[A-Z2-7]{16,}",
  "https://maker\\.ifttt\\.com/trigger/[\\w-]+/(?:json/)?with/key/[\\w-]{20,}",
  "https://hook\\.(?:\\w+\\.)?make\\.com/[a-z0-9]{32}",
  "(?:alchemy\\.com/v2|alchemy\\.com/nft/v\\d|infura\\.io/v3|quiknode\\.pro|rpc\\.ankr\\.com/[\\w-]+|p2pify\\.com|blastapi\\.io)/[\\w-]{32,}",
  // PuTTY, XML and JSON forms of private keys.
  "Private-Lines: \\d{1,3}(?:\\s+[A-Za-z0-9+/=]{16,64})+",
  "<(?:D|P|Q|DP|DQ|InverseQ)>[A-Za-z0-9+/=\\s]{40,}</",
  '"d" ?: ?"[\\w-]{40,}"',
  "(?:\\b|_|\\\\[nrt])(?:bot)?\\d{8,10}:A[\\w-]{33,35}",
  `(?i:https?)://[0-9a-f]{32}(?::[0-9a-f]{32})?@[\\w.-]+/\\d+`,
]

/** Their letters may be of either case. */
const CASELESS_FORMATS = [SESSION_COOKIES]

const NAMED_VALUES = NAME_VALUE_SOURCES.map((source) => `(?i:${source})`)
const innerFormats = INNER_FORMATS.map((format) => `${KEY_START}${format}`)
const UNPREFIXED = [
  ...innerFormats,
  `${KEY_START}${ENCODED_KEY}`,
  URL_PASSWORD,
  DRIVER_PASSWORD,
  COMMAND,
  SCHEME,
  ...OTHER_FORMATS,
  ...CASELESS_FORMATS,
  ...COMMAND_SOURCES,
  ...CALL_SOURCES,
  VALUE_BEFORE_NAME,
  LOGIN_PASSWORD,
  ...NAMED_VALUES,
]
const CANDIDATES = [`${KEY_START}${anyOf(KEY_PREFIXES)}${KEY_CHARACTERS}`, ...UNPREFIXED]

const literalsOf = (source: string): Literal[] =>
  (mostSelectiveGroup(requiredLiterals(source).groups) ?? []).map((text) => ({ text }))

let triggers: Triggers | undefined

/** Not computed at the start of an isolate, which may scan nothing. */
function triggersOf(): Triggers {
  const shortPrefixes = KEY_PREFIXES.filter(isShortPrefix)
  const longPrefixes = KEY_PREFIXES.filter((opening) => !isShortPrefix(opening))
  return {
    literals: [
      ...shortPrefixes.flatMap((opening) =>
        prefixLiterals(opening).map((text): Literal => ({
          text,
          wordStart: true,
          ...(startsWithCapital(opening) && { isCapitalized: true }),
        })),
      ),
      ...longPrefixes.flatMap(prefixLiterals).map((text): Literal => ({ text })),
      ...[...UNPREFIXED, PEM].flatMap(literalsOf),
    ],
  }
}

const FORMATS = new RegExp(
  [
    `(?<=^|[^A-Za-z0-9]|\\\\[nrt])${anyOf([...KEY_FORMATS.map(([opening, rest]) => opening + rest), ...INNER_FORMATS])}`,
    ...OTHER_FORMATS.map((one) => one.replaceAll(/\(\?i:/g, "(?:")),
  ].join("|"),
  "g",
)
const ENCODED = new RegExp(`(?<=^|[^A-Za-z0-9+/])${ENCODED_KEY}`, "g")
const CASELESS = new RegExp(CASELESS_FORMATS.map((one) => one.replaceAll("(?i:", "(?:")).join("|"), "gi")
const FULL_PEM = new RegExp(PEM, "g")
const PASSWORD_URLS = new RegExp(`${URL_PASSWORD}|${DRIVER_PASSWORD}`, "g")
const COMMAND_AT_START = new RegExp(`^${COMMAND}`)
const AUTH_SCHEME = /(?<=^|[^\w])(bearer|basic|ssws|geniekey) ([A-Za-z0-9._~+/=-]{8,})/gi

/**
 * Keys, tokens and passwords. The program finds candidate ranges; `refine` searches each for all secrets, so that a
 * rejected candidate cannot hide another.
 */
export const secrets: PatternDetector = {
  name: "secrets",
  engine: "secrets",
  label: "[SECRET]",
  program: lazyProgram([...CANDIDATES, PEM].join("|")),
  limit: 262_144,
  get triggers() {
    return (triggers ??= triggersOf())
  },
  reduced: {
    literal: "private key",
    program: lazyProgram([...CANDIDATES, "-----BEGIN (?:[A-Z0-9]{2,12} ){0,3}"].join("|")),
  },
  // A command has up to 60 characters before its password. Other matches start with their trigger.
  maxLead: 128,
  refine(match, before) {
    const parts: MatchRange[] = []
    const add = (from: number, to: number) => {
      const isInside = parts.some((part) => part[0] <= from && part[1] >= to)
      if (!isInside && !isFingerprint(match.slice(from, to), before + match.slice(0, from))) parts.push([from, to])
    }
    for (const { index, 0: pem } of match.matchAll(FULL_PEM)) add(index, index + pem.length)
    for (const { index, 0: key } of match.matchAll(FORMATS)) if (hasRealCharacters(key)) add(index, index + key.length)
    for (const { index, 0: key } of match.matchAll(CASELESS)) if (hasRealCharacters(key)) add(index, index + key.length)
    for (const { index, 0: value } of match.matchAll(ENCODED)) if (isEncodedKey(value)) add(index, index + value.length)
    for (const { index, 0: url } of match.matchAll(PASSWORD_URLS)) if (hasPassword(url)) add(index, index + url.length)
    for (const found of match.matchAll(AUTH_SCHEME)) {
      const [complete, scheme = "", value = ""] = found
      const from = found.index + complete.length - value.length
      if (isCredential(scheme, value)) add(from, from + trimPunctuation(value).length)
    }
    if (COMMAND_AT_START.test(match) && !isPlaceholder(match.slice(match.lastIndexOf(":") + 1))) add(0, match.length)
    for (const { value, from } of commandValues(match)) if (isRealPassword(value)) add(from, from + value.length)
    for (const { value, from } of callValues(match)) add(from, from + value.length)
    for (const { value, from } of valuesBeforeNames(match)) add(from, from + value.length)
    for (const { value, from } of loginPasswords(match)) if (looksGenerated(value)) add(from, from + value.length)
    for (const [from, to] of namedSecrets(match, before)) add(from, to)
    return parts
  },
}

/** Whether all variants start with a capital letter. */
function startsWithCapital(opening: string): boolean {
  return opening
    .replace("(?:", "")
    .split("|")
    .every((form) => /^[A-Z]/.test(form))
}

/** Text between a name and a value that links them. */
const ASSIGNMENT = new RegExp(`[=:：>|"'\`]|\\b(?:${COPULAS}|login|be|value)\\b|[^\\p{ASCII}]`, "iu")

/** All values after secret names in a candidate. */
function namedSecrets(match: string, before: string): MatchRange[] {
  const parts: MatchRange[] = []
  for (const { index } of match.matchAll(SECRET_NAMES)) {
    for (const shape of NAME_VALUE_PATTERNS) {
      shape.lastIndex = index
      const found = shape.exec(match)
      if (!found) continue
      const [complete, name = "", gap = "", rawValue = ""] = found
      const text = index === 0 ? before : match.slice(0, index)
      const kind = kindOf(`${/(?:[\w.-]+ ){0,2}[\w.-]*$/.exec(text)?.[0] ?? ""}${name}`)
      // `-----END SIGNATURE-----` names no secret.
      if (`${name}${gap}`.includes("-----")) continue
      const isOption = /(?:^|\s)--?[\w-]*$/.test(text)
      const isAssigned = (isOption || ASSIGNMENT.test(gap)) && !/ .* to ["'`]?$/.test(gap)
      const value = valueOf(rawValue, gap)
      if (!kind || !isSecret(kind, value, isAssigned)) continue
      if (shape === UNLINKED_PASSWORD && !isStrongPassword(value)) continue
      const from = index + complete.length - rawValue.length
      parts.push([from, from + value.length])
      break
    }
  }
  return parts
}

/** Strips trailing punctuation of a sentence or of code, and the next part of a connection string. */
function valueOf(rawValue: string, gap: string): string {
  if (/["'`]$/.test(gap)) return rawValue
  if (/[«“„‘「] ?$/.test(gap)) return rawValue.replace(/(?<=.)[»”“’」].*/s, "")
  return trimPunctuation(rawValue.replace(/(?<=.)(?:[;&,][\w .-]+=.*|;$)/s, ""))
}

function trimPunctuation(value: string): string {
  return value.replace(/[.,;:?)\]}\\»”。，、」]+$/, "")
}

const EXAMPLE_PASSWORDS =
  /^(?:public|private|pass(?:word|wd)?\d*|pwd|pw|secret|changeme|example|test|token|guest|admin|root|user|postgres|mysql|mongo|redis|dev|pass123|password123|xxx+|\*+|\.+|…|<.*>|\$.*|%.*|\{.*|\[.*)$/i

/** Whether an argument of a command is a password, and no variable, option or placeholder. */
function isRealPassword(value: string): boolean {
  return value.length >= 4 && !/^[-/$]/.test(value) && !EXAMPLE_PASSWORDS.test(value) && !isPlaceholder(value)
}

/** Whether a URL has a password that is not a placeholder. */
function hasPassword(url: string): boolean {
  const [, user = "", password = ""] = /^(?:[^/]*\/\/)?([^:/@]*):([^@]*)@/.exec(url) ?? []
  return password !== "" && password !== user && !EXAMPLE_PASSWORDS.test(password) && !isPlaceholder(password)
}

function decodedText(base64: string): string | undefined {
  const bytes = decodeBase64(base64.replace(/=+$/, "").replaceAll("-", "+").replaceAll("_", "/"))
  return bytes && new TextDecoder().decode(bytes)
}

/** Whether Base64 encodes a key, or a URL with a password. */
function isEncodedKey(value: string): boolean {
  const text = decodedText(value) ?? ""
  const [key] = text.match(FORMATS) ?? []
  const [url] = text.match(PASSWORD_URLS) ?? []
  return (
    text.startsWith("-----BEGIN") ||
    (key !== undefined && hasRealCharacters(key)) ||
    (url !== undefined && hasPassword(url))
  )
}

function isCredential(scheme: string, value: string): boolean {
  if (/^basic$/i.test(scheme)) {
    const text = decodedText(value)
    if (text !== undefined && /^[\x20-\x7e]+:[\x20-\x7e]+$/.test(text)) return true
  }
  return isRandom(value, 14) && !isPlaceholder(value)
}
