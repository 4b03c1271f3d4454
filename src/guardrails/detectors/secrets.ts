import type { Scanned } from "./detector.ts"
import { lazyProgram } from "../content/program.ts"
import type { Literal } from "../prefilter/literals.ts"
import { bestGroup, requiredOf } from "../prefilter/required.ts"

/** API keys with a prefix of their vendor. Sources: the vendors' documentation of their formats. */
const PREFIXED = [
  "(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\\b",
  "gh[pousr]_[A-Za-z0-9]{36,}",
  "github_pat_[A-Za-z0-9_]{22,}",
  "gl(?:pat|ptt|rt|cbt|dt|soat)-[\\w-]{20,}",
  "xox[abeoprs]-[\\w-]{10,}",
  "xapp-\\d-[\\w-]{20,}",
  "sk-(?:ant|proj|svcacct|admin|or|gw|lf)-[\\w-]{20,}",
  "sk-[A-Za-z0-9]{32,}",
  "(?:sk|rk|pk)_(?:live|test)_[0-9A-Za-z]{16,}",
  "whsec_[A-Za-z0-9+/]{24,}",
  "AIza[\\w-]{35}",
  "ya29\\.[\\w-]{20,}",
  "GOCSPX-[\\w-]{20,}",
  "SG\\.[\\w-]{16,}\\.[\\w-]{16,}",
  "npm_[A-Za-z0-9]{36}",
  "pypi-[\\w-]{32,}",
  "hf_[A-Za-z0-9]{30,}",
  "gsk_[A-Za-z0-9]{40,}",
  "xai-[A-Za-z0-9]{40,}",
  "pplx-[A-Za-z0-9]{32,}",
  "r8_[A-Za-z0-9]{36,}",
  "do[opr]_v1_[0-9a-f]{64}",
  "dapi[0-9a-f]{32}",
  "shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",
  "hv[sb]\\.[\\w-]{24,}",
  "ATATT3[\\w=-]{50,}",
  "lin_api_[A-Za-z0-9]{40}",
  "ntn_[A-Za-z0-9]{40,}",
  "sntrys_[\\w=-]{40,}",
  "dckr_(?:pat|oat)_[\\w-]{20,}",
  "sbp_[0-9a-f]{40}",
  "figd_[\\w-]{36,}",
  "key-[0-9a-f]{32}\\b",
  "1//0[\\w-]{32,}",
  "AGE-SECRET-KEY-1[0-9A-Z]{58}",
  "eyJ[\\w-]{8,}\\.eyJ[\\w-]{8,}\\.[\\w-]{8,}",
]

const keyMark = (word: string) => `-----${word} (?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----`

const OTHER = [
  // A private key up to its end mark, or the part that follows without a break.
  `${keyMark("BEGIN")}(?:(?:[^-]|-[^-])*${keyMark("END")}|[A-Za-z0-9+/=\\r\\n\\\\]*)`,
  "https://hooks\\.slack\\.com/(?:services|workflows)/[A-Za-z0-9/_+-]{20,}",
  "https://(?:ptb\\.|canary\\.)?discord(?:app)?\\.com/api/webhooks/\\d{17,20}/[\\w-]{40,}",
  "\\b\\d{8,10}:AA[\\w-]{32,33}\\b",
  "(?i:AccountKey|SharedAccessKey)=[A-Za-z0-9+/]{40,}={0,2}",
  // A password in an address.
  "\\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\\s:/@'\"`<>]{0,64}:[^\\s/@'\"`<>]{1,128}@[\\w.-]+",
  "(?i:bearer|basic|token) [A-Za-z0-9._~+/=-]{20,}",
  "\\bcurl [^\\n]{0,80}(?:-u|--user)[ =]['\"]?[^\\s:'\"]{1,64}:[^\\s'\"]{4,128}",
  // A value that is assigned to a name such as "password".
  "(?i:(?:password|\\bpw|passwd|pwd|passphrase|secret|api[_-]?key|apikey|access[_-]?key(?:[_-]?id)?|auth[_-]?token|access[_-]?token|refresh[_-]?token|private[_-]?key|client[_-]?secret|encryption[_-]?key)[\\w-]{0,20})[\"'`]?(?: is| was)?[ \\t]*(?:=>|:=|[:=]| )[ \\t]*[\"'`]?[^\\s\"'`,;<>(){}]{8,256}",
]

const openingsOf = (source: string): Literal[] =>
  (requiredOf(source).openings ?? []).map((text) => ({ text, starts: true }))
const literalsOf = (source: string): Literal[] => (bestGroup(requiredOf(source).groups) ?? []).map((text) => ({ text }))

const NAMED =
  /^[\w-]*(?:password|pw$|pw\W|passwd|pwd|passphrase|secret|api[_-]?key|access[_-]?key|token|private[_-]?key)/i
/** Placeholders instead of a secret. */
const PLACEHOLDER =
  /^(?:\$|%|<|\{|\[|your|my[-_]|xxx|\*\*|\.\.\.|example|sample|change|replace|redacted|insert|enter|todo|dummy|null|none|undefined|true|false|process\.|os\.|env\.|config\.|settings\.|self\.|this\.|req\.|secrets\.|vars\.|string|boolean|required|optional|must|should|field|input)|(?:example|placeholder|changeme|_here)$/i

/**
 * Keys, tokens and passwords. Known formats are matched directly; other values by their name, if they are random
 * enough.
 */
export const secrets: Scanned = {
  name: "secrets",
  engine: "secrets",
  label: "[SECRET]",
  program: lazyProgram([...PREFIXED.map((one) => `\\b${one}`), ...OTHER].join("|")),
  limit: 8_192,
  signs: { literals: [...PREFIXED.flatMap(openingsOf), ...OTHER.flatMap(literalsOf)] },
  without: {
    literal: "private key",
    program: lazyProgram([...PREFIXED, `-----BEGIN (?:[A-Z0-9]{2,12} ){0,3}`, ...OTHER.slice(1)].join("|")),
  },
  refine(match) {
    if (!NAMED.test(match)) return /^(?:bearer|basic|token) /i.test(match) ? afterScheme(match) : [[0, match.length]]
    const value = /[^\s"'`,;<>(){}]+$/.exec(match)?.[0] ?? ""
    const isGiven = /["'`]?[ \t]*(?:=>|:=|[:=])[ \t]*["'`]?[^\s"'`]*$/.test(match) || / (?:is|was) [^\s]*$/.test(match)
    if (!isGiven || PLACEHOLDER.test(value) || !isMixed(value, match)) return []
    return [[match.length - value.length, match.length]]
  },
}

function afterScheme(match: string): readonly (readonly [number, number])[] {
  const from = match.indexOf(" ") + 1
  return isMixed(match.slice(from), "") ? [[from, match.length]] : []
}

/** Needs letters and digits; for passwords a symbol is enough. */
function isMixed(value: string, name: string): boolean {
  if (/^https?:\/\//i.test(value) || /^[a-z_]+(?:[.][a-z_]+)+$/i.test(value)) return false
  const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9]/].filter((kind) => kind.test(value)).length
  if (/pass|pwd?\b/i.test(name)) return kinds >= 2 && /[\d\W]/.test(value)
  return kinds >= 2 && /\d/.test(value) && new Set(value).size >= 8
}
