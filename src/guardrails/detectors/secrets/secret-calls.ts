/** Keys and passwords as arguments of calls, and in records without the names of their fields. */
import { areRandomLetters, isRandom, isStrongPassword, looksGenerated } from "./secret-values.ts"

type CallFormat = {
  /** Everything before the value, and the value, in RE2 syntax. */
  before: string
  value: string
  isSecret: (value: string) => boolean
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i
const isKey = (value: string) => isRandom(value, 16) && !UUID.test(value) && !/^[./]|:\/\//.test(value)
const isMixed = (value: string) =>
  /^[\w!#$%&*+?.-]+$/.test(value) && /\d/.test(value) && /[A-Z]/.test(value) && /[a-z]/.test(value)
/** Matches text about passwords, such as "must be at least 8 characters". */
const SENTENCE =
  /[.:?,]$|[<>{}$]|\b(?:must|be|at|least|char\w*|your|the|is|enter|please|or|and|for|with|to|of|min|max|in|not|digits?|letters?|password|has|was|are)\b/i
const isKnownFormat = () => true
const QUOTED = "[^\\s'\"`<>]{6,}"

const CALLS: readonly CallFormat[] = [
  {
    // A client, its credentials, or a signature: `Client("…")`, `sign(payload, "…")`, `basicAuth("user", "…")`.
    before:
      "(?i:client|credentials?|provider|login|auth|authentication|authenticate|authorization|signin|api|sdk|bot\\.run|init|initialize|configure|connect|" +
      "hmac|cipher|cipheriv|fernet|search|sign|verify|session|getbytes|getenv|environ\\.get|env|env\\.fetch|rest|key|keyspec|token|secret|service|connector|bot|unwrap_or|orelse|getorelse|getordefault|getproperty)\\((?:[\\w.]{1,24}, ?|['\"`][^'\"`\\n]{1,32}['\"`],\\s?)?[bfr]?['\"`]",
    value: QUOTED,
    isSecret: (value) => isKey(value) || isStrongPassword(value),
  },
  {
    // A user name and a password: `login("me", "…")`, `getConnection(url, "app", "…")`.
    before:
      "(?i:login|connect|connection|credentials?|auth|pw_set|authenticate|signin|sign_in|user|password)\\((?:[\\w.]{1,24}, ?)?['\"][^'\"\\n]{1,32}['\"],\\s?['\"]",
    value: QUOTED,
    isSecret: (value) => looksGenerated(value) || (value.length >= 8 && isMixed(value)),
  },
  {
    // A user name and a key, in an object.
    before: "\\buser(?:_?name)?['\"]? ?: ?['\"][^'\"\\n]{1,32}['\"], ?['\"]?(?:api_?|access_?)?[kK]ey['\"]? ?: ?['\"]",
    value: QUOTED,
    isSecret: (value) => isRandom(value, 16),
  },
  {
    // Options of any command, as in `-u name -p password` and `-k` with a key.
    before: "-u ?[\\w.@-]{1,32}(?: -p ?|,)['\"]?",
    value: "[^\\s'\"`<>,]{6,}",
    isSecret: (value) => looksGenerated(value) || (isMixed(value) && value.length >= 8),
  },
  { before: "-k ['\"]?", value: "[0-9a-fA-F-]{32,64}\\b", isSecret: (value) => isRandom(value, 30) },
  { before: "-p ['\"]?", value: "[a-z]{4}(?:-[a-z]{4}){3}\\b", isSecret: isKnownFormat },
  { before: "-[pPwWak] ['\"]?", value: "[A-Za-z0-9!#$%&*+?_-]{8,}", isSecret: (value) => isRandom(value, 8) },
  {
    // Short names that say little: a value has to be random.
    before: "\\b(?i:api|cred|auth|bearer|jwt|hmac|signing|refresh)['\"]? ?:?[=:]>? ?['\"]",
    value: QUOTED,
    isSecret: (value) => isRandom(value, 20) && isKey(value),
  },
  { before: "\\bauth['\"]?: ?[\\[(]['\"][^'\"\\n]{1,32}['\"], ?['\"]", value: QUOTED, isSecret: looksGenerated },
  {
    before: "\\bdefine\\( ?['\"]\\w{0,24}(?:KEY|SALT|SECRET|PASSWORD|PASS|TOKEN)['\"], ?['\"]",
    value: "[^'\"\\n]{8,}",
    isSecret: (value) =>
      looksGenerated(value) || /^(?=.*\d)(?=.*[^\w\s])(?=.*[a-zA-Z])(?!put your)\S.{39,}$/.test(value),
  },
  {
    // An option of any command, as in `-u name:password`.
    before: "(?:-u|-U|--user|--auth|--creds|--credentials)[ =]['\"]?[\\w.@+-]{1,40}:",
    value: QUOTED,
    isSecret: looksGenerated,
  },
  // .pgpass: host, port, database, user and password.
  {
    before: ":\\d\\d\\d\\d:[\\w*-]{1,32}:[\\w*.-]{1,32}:",
    value: QUOTED,
    // An IPv6 address has the same separators.
    isSecret: (value) => (looksGenerated(value) || areRandomLetters(value)) && !/^[0-9a-f:]+$/i.test(value),
  },
  {
    before: "(?:\\b|_)post_(?:server|client)_item['\"]?[=: ]{1,3}['\"]?",
    value: "[0-9a-f]{32}",
    isSecret: isKnownFormat,
  },
  { before: "\\b(?i:app_?id)['\"]?[=:] ?['\"]?", value: "[0-9a-f]{32}", isSecret: isKnownFormat },
  {
    before: "account\\.key\\.[\\w.-]{1,32}['\", =:]{1,5}",
    value: "[A-Za-z0-9+/]{86}==",
    isSecret: isKnownFormat,
  },
  {
    // Seed phrases of wallets. Each word of the usual list has at least three letters.
    before: "(?i:mnemonic|seed|recovery|wallet|phrase)(?: [a-z]{1,12}){0,6}[:=]?[ '\"]{1,3}",
    value: "[a-z]{3,8}(?: [a-z]{3,8}){11,}",
    isSecret: (value) => !/\b(?:and|the|for|from|are|was|has|words|which|been|not|but)\b/.test(value),
  },
  {
    // Passwords for one application, in groups of four.
    before: "(?i:app(?:lication)?(?:[- ]specific)?[- ]passwor[dt])(?: [a-z]{1,10}){0,4}['\"]?(?: is|:|=)? ?['\"]?",
    value: "[A-Za-z0-9]{4}(?:[ -][A-Za-z0-9]{4}){3,5}",
    isSecret: isKnownFormat,
  },
  {
    before: "(?i:(?:recovery|backup|one-time|2fa|mfa) codes?)(?: is| are)?[: ]{1,2}",
    value: "[A-Za-z0-9]{4,12}(?:-[A-Za-z0-9]{4,12}){0,3}",
    isSecret: (value) => value.length >= 8 && /\d.*\d/.test(value),
  },
  {
    // Base32 of one-time passwords.
    before: "(?i:totp|otp|mfa|2fa)[\\w -]{0,16}(?:[=:]| is)? ?['\"]?",
    value: "[A-Z2-7]{16,64}",
    isSecret: (value) => /^[A-Z2-7]{16,}$/.test(value) && /\d/.test(value),
  },
  {
    // A quoted password of several words.
    before: "(?i:pass(?:word|phrase|wd)?|secret)['\"]?[=: ]{1,3}['\"]",
    value: "[^\\s'\"]{2,32}(?: [^\\s'\"]{2,32}){1,4}",
    isSecret: (value) => /\d/.test(value) && /[a-z]/i.test(value) && !SENTENCE.test(value),
  },
  {
    // Password hashes of Unix accounts.
    before: ":",
    value: "\\$(?:1|5|6|y|apr1|2[aby])\\$[\\w./$=+,-]{20,}",
    isSecret: isKnownFormat,
  },
]

export const CALL_SOURCES: readonly string[] = CALLS.map(({ before, value }) => before + value)

const PATTERNS = CALLS.map(({ before, value, isSecret }) => {
  const flags = before.includes("(?i:") ? "gi" : "g"
  return { pattern: new RegExp(`(${before.replaceAll("(?i:", "(?:")})(${value})`, flags), isSecret }
})

const NAMES_AFTER =
  "password|passphrase|passcode|pw|pwd|api[ -]key|key|token|secret|bearer|passwort|kennwort|schlüssel|mot de passe|clé|jeton|contraseña|clave|senha|chave|wachtwoord|sleutel|hasło|klucz|пароль|ключ|токен"
const LINKS = "is|was|as|ist|est|es|è|é|to|это|—"
/**
 * A value before its name, as in "… is my password". A stream delays a word that may be one: only words with a symbol of
 * passwords, and long ones, are.
 */
export const VALUE_BEFORE_NAME = `(?:[\\w.-]*[!#$%&*+?^][!-~]{2,}|[\\w-]{16,}) (?i:${LINKS}) (?:[^\\s"'.,:;]{1,10} ){0,3}(?i:${NAMES_AFTER})`
const VALUES_BEFORE_NAMES = new RegExp(
  `(?<=^|[\\s"'\`(])(\\S{8,128})(?= (?:${LINKS}) (?:[^\\s"'.,:;]{1,10} ){0,3}(?:${NAMES_AFTER})(?!\\p{L}))`,
  "giu",
)

/** Passwords and keys right before "is my password". */
export function* valuesBeforeNames(text: string): Generator<{ value: string; from: number }> {
  for (const { index, 1: written = "" } of text.matchAll(VALUES_BEFORE_NAMES)) {
    const value = written.replace(/["'`),;:]+$/, "")
    if (looksGenerated(value) && (isStrongPassword(value) || isRandom(value, 16))) yield { value, from: index }
  }
}

/** Each value in a call or a record, with its place in the text. */
export function* callValues(text: string): Generator<{ value: string; from: number }> {
  for (const { pattern, isSecret } of PATTERNS)
    for (const { index, 1: before = "", 2: value = "" } of text.matchAll(pattern))
      if (isSecret(value)) yield { value, from: index + before.length }
}
