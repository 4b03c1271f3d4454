import type { NameKind } from "./secret-names.ts"

/** Placeholders for a secret. */
const PLACEHOLDER =
  /^(?:\$|%|<|\{|\[|@|#|&|\/\/|\.{1,2}\/|your|my[-_]|xxx|\*\*|\.\.\.|example|sample|change|replace|redacted|insert|enter|todo|dummy|fake|null|none|undefined|true|false|process\.|os\.|env[.:]|config\.|settings\.|self\.|this\.|req\.|ctx\.|secrets?\.|vars?\.|data\.|string|boolean|required|optional|must|should|field|input|vault:|arn:|ref:|op:\/\/|file:|https?:\/\/)|(?:example|placeholder|change-?me|_here|-here)$|your[-_ ]?(?:api|key|token|secret|pass)|x{6}|\*{3}|•{3}|…|\.{3}|0{10}|\{\{|\$\{|<[a-z]|^!(?:[a-z]+|[A-Z]\w+(?:::\w+)?)$|^\?[a-z]+\}?$|^put[ -]your|EXAMPLE(?:KEY)?$/i
const CODE =
  /^[\w$.]+\(|\($|^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+$|=>|\(\)|^[A-Za-z_]\w*\[|^[A-Z][A-Z_]+$|::|->|^\/.+\/[a-z]*[;,)]*$|^[A-Z][A-Z\d_]+=.{0,5}$|\]\(https?:|^[a-z_]+=[\d.]+[,;)]*$|^[A-Z][A-Z\d_]*:[?+]/
const URL = /^[a-z][a-z+.-]*:\/\//i
const PATH = /^\/?(?:[\w.-]+\/){2,}[\w.-]*$/
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i
const HEX = /^[0-9a-f]+$/i
const DATE = /^\d{4}-\d\d-\d\d|^\d{1,2}[./]\d{1,2}[./]\d{2,4}|^\d+(?:\.\d+)+\w*$/

export function isPlaceholder(value: string): boolean {
  return PLACEHOLDER.test(value)
}

/** Share of changes between character kinds: about a third in random text, a tenth in words. */
function classChangeRatio(value: string): number {
  const changes = value.match(/[a-z](?=[A-Z\d])|[A-Z](?=\d)|\d(?=[A-Za-z])/g)?.length ?? 0
  return changes / value.replaceAll(/[^A-Za-z\d]/g, "").length
}

/** Whether a text looks like a generated key. */
export function isRandom(value: string, minLength: number): boolean {
  const plain = value.replaceAll(/[^A-Za-z\d]/g, "")
  if (plain.length < minLength || !/\d/.test(plain) || !/[A-Za-z]/.test(plain)) return false
  return classChangeRatio(value) >= 0.17 && new Set(plain).size >= Math.min(8, plain.length / 2)
}

/** Short forms in identifiers, which have no vowel or many consonants. */
const SHORT_FORMS =
  /^(?:p?wd|psw|str|strings?|ctx|btn|txt|te?xts?|msgs?|cfg|tmp|env|src|dst|ptr|prm|sql|https?|html|xml|json|css|js|db|id|my|by|fn|cb|crypt|encrypt|decrypt|lngth|length|strength|xhr|sdk|mgr|ssl|tls|ssh|smtp|ldap|gpg|pgp|aws|gcp|jwt|srv|rds|mdb)$/i

const LETTERS_LENGTH: Readonly<Record<NameKind, number>> = { password: 10, secret: 16, key: 24 }

/** Whether letters read like random ones: a part of the camel case has no vowel, or four consonants in a row. */
export function areRandomLetters(value: string): boolean {
  if (!/^[A-Za-z]{10,}$/.test(value) || !/[a-z]/.test(value) || !/[A-Z]/.test(value)) return false
  const parts = value.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? []
  const oddness = (part: string) => {
    if (SHORT_FORMS.test(part)) return 0
    if (/[^aeiouy]{5}/i.test(part)) return 2
    return part.length === 1 || !/[aeiouy]/i.test(part) || /[^aeiouy]{4}|q[^u]|[jvx][bcdfgjkmqvwxz]/i.test(part) ? 1 : 0
  }
  return parts.length >= 2 && parts.reduce((sum, part) => sum + oddness(part), 0) >= 2
}

/** Whether a key with a vendor prefix has actual characters instead of placeholders. */
export function hasRealCharacters(key: string): boolean {
  return !/([x*.#])\1{5}|0{12}|example[-_]?key|EXAMPLE$|placeholder|your[-_]?(?:api|key|token|secret)/i.test(key)
}

/** Standards with digits, which names in code contain. */
const STANDARDS =
  /x509|oauth2?|saml2?|sha(?:1|256|384|512)|md5|utf8|base64|http[23]|ed25519|[ehpr]s(?:256|384|512)|pkcs\d{1,2}|es20\d\d|u?int(?:8|16|32|64)|float(?:32|64)/gi

/** Whether a value is a name in code whose digits are those of a standard, such as `X509Credential`. */
function isCodeName(value: string): boolean {
  const rest = value.replaceAll(STANDARDS, "")
  return rest !== value && /^[A-Za-z_$.]*$/.test(rest)
}

const FINGERPRINT = /^[0-9a-f]{40}$/i
const BEFORE_FINGERPRINT = /\b(?:gpg|pgp|recv-keys?|fingerprint)\b[^\n]{0,24}$/i

/** Whether a value is the fingerprint of a public key. `before`: the text before it. */
export function isFingerprint(value: string, before: string): boolean {
  return FINGERPRINT.test(value) && BEFORE_FINGERPRINT.test(before.slice(-40))
}

/** Whether a value looks like a password or a key without a name for it. */
export function looksGenerated(value: string): boolean {
  if (
    isCodeName(value) ||
    PLACEHOLDER.test(value) ||
    CODE.test(value) ||
    URL.test(value) ||
    DATE.test(value) ||
    PATH.test(value)
  )
    return false
  const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z\d]/].filter((kind) => kind.test(value)).length
  const isPassword = value.length >= 8 && kinds >= 3 && /\d/.test(value) && /[A-Za-z]/.test(value)
  return isRandom(value, 16) || isPassword || /^(?=[a-z]*\d[a-z\d]*\d)[a-z\d]{24,}$/.test(value)
}

/** Whether only a password looks so: capital and small letters, digits and symbols, and no host. */
export function isStrongPassword(value: string): boolean {
  return (
    value.length >= 8 &&
    /[a-z]/.test(value) &&
    /[A-Z]/.test(value) &&
    /\d/.test(value) &&
    /[!#$%&*^+?]|^[A-Za-z0-9-]*\d[A-Za-z][A-Za-z0-9]*-|-[A-Za-z0-9]*\d[A-Za-z]/.test(value)
  )
}

/** Whether a value has symbols of a password and is no identifier. */
function looksLikePassword(value: string): boolean {
  const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z\d]/].filter((kind) => kind.test(value)).length
  return kinds >= 2 && /[\d\W]/.test(value) && !/^[a-z]+(?:[-_.][a-z]+)+$/i.test(value)
}

/**
 * Whether a value may be the secret that its name denotes. `isAssigned`: a link such as `=` or "is" is between them.
 */
export function isSecret(kind: NameKind, value: string, isAssigned: boolean): boolean {
  if (isCodeName(value) || PLACEHOLDER.test(value) || URL.test(value) || DATE.test(value)) return false
  // Parts of a generated token, as in `s.hJ3x…`, are no names of members.
  const hasRandomPart = /^[\w.-]+$/.test(value) && value.split(".").some((part) => isRandom(part, 20))
  if (CODE.test(value) && !hasRandomPart) return false
  if (PATH.test(value) && !isRandom(value, 20)) return false
  if (areRandomLetters(value) && isAssigned && value.length >= LETTERS_LENGTH[kind]) return true
  if (kind === "password") {
    if (!looksLikePassword(value)) return false
    if (isAssigned) return value.length >= 6 && !/^\d{1,7}$/.test(value)
    return value.length >= 8 && /\d/.test(value) && /[A-Za-z]/.test(value) && !/^[a-z]+-?\d+$/i.test(value)
  }
  if (kind === "key") return isRandom(value, 16) && !UUID.test(value) && (!HEX.test(value) || !isAssigned)
  if (UUID.test(value)) return true
  if (!isAssigned) return isRandom(value, 16)
  if (isRandom(value, 8) || /^(?=.*\d)[a-z\d]{20,}$/i.test(value)) return true
  const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^\w.:/-]/].filter((one) => one.test(value)).length
  return value.length >= 8 && kinds >= 3 && /\d/.test(value)
}
