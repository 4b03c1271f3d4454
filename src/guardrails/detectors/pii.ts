import ipaddr from "ipaddr.js"
import type { MatchRange, PatternDetector } from "./detector.ts"
import { lazyProgram } from "../content/patterns/program.ts"
import { IBAN_COUNTRIES, isIban, passesLuhn } from "./checksums.ts"
import { followsNumberTerm, followsOtherNumber, followsPhoneTerm } from "./number-terms.ts"

const fullMatch = (match: string): MatchRange[] => [[0, match.length]]
const NONE: MatchRange[] = []

/** File extensions that are no top-level domains; `.md` and `.py` are country domains. */
const FILE_ENDS =
  /\.(?:png|jpe?g|gif|svg|webp|ico|css|s?css|m?jsx?|tsx?|json|rb|html?|ya?ml|toml|lock|pdf|mp[34]|zip)$/i

export const email: PatternDetector = {
  name: "email",
  engine: "pii",
  label: "[EMAIL]",
  program: lazyProgram(
    "[\\pL\\pN_](?:[\\pL\\pN._%+'-]*[\\pL\\pN_+-])?(?:@|[(\\[{] ?(?i:at) ?[)\\]}] ?|%40|&#0{0,4}64;|&#[xX]0{0,4}40;|&commat;|\\\\u0040)[\\pL\\pN](?:[\\pL\\pN-]*[\\pL\\pN])?(?:(?:\\.| ?[(\\[{] ?(?i:dot|punkt|punto|point) ?[)\\]}] ?)[\\pL\\pN](?:[\\pL\\pN-]*[\\pL\\pN])?)+",
  ),
  limit: 320,
  triggers: {
    literals: ["@", "(at)", "[at]", "{at}", "( at )", "[ at ]", "%40", "&#", "&commat;", "\\u0040"].map((text) => ({
      text,
    })),
  },
  refine(match, before) {
    // `git@host` is a repository, and `user:password@host` is a secret, not an email address.
    if (/^git@/i.test(match) || FILE_ENDS.test(match) || /:\/\/[^\s/]*$/.test(before)) return NONE
    if (/%.*%40[^@]*$/.test(match)) return NONE
    return /(?:\.|(?:dot|punkt|punto|point) ?[)\]}] ?)(?:\p{L}{2,24}|xn--[a-z0-9-]+)$/iu.test(match)
      ? fullMatch(match)
      : NONE
  },
}

const DATE = /^(?:\d{1,2}[-./ ]\d{1,2}[-./ ]\d{2,4}|\d{4}[-./ ]\d{1,2}[-./ ]\d{1,2})$/

const HAS_DATE = /(?:19|20)\d\d-(?:0\d|1[0-2])(?!\d)/

/**
 * Characters after which a number is part of something else: another number, an address, a time. `tel:` is a phone
 * number.
 */
const PART_OF_LARGER = /(?:\d[ ,]?|[./=_#-]|(?<!\p{L}):|[A-Za-z])$/u
const PART_OF_LARGER_INTERNATIONAL = /(?:\d ?|[A-Za-z])$/

/** Russian, Spanish and Chinese numbers without country code. */
const NATIONAL =
  /^(?:8[ -]?\(?\d{3}\)?[ -]?\d{3}([ -])\d{2}\1\d{2}|[67]\d{2} \d{2} \d{2} \d{2}|1[3-9]\d[ -]\d{4}[ -]\d{4}|\([1-9]\d\) (?:\d{3}[ -]\d{2}[ -]\d{2}|9?\d{4}-\d{4}))$/

const EXTENSION = "(?:,? ?(?:[xX]|[Ee]xt\\.?|[Ee]xtension|доб\\.?|[Pp]oste|[Rr]amal|DW) ?\\d{1,6}\\b)?"
const AT_EXTENSION = /,? ?(?:x|ext\.?|extension|доб\.?|poste|ramal|dw) ?\d+$/iu

/** Groups of an account number before the digits. */
const IN_IBAN = /(?:^|[^A-Za-z\d])[A-Z]{2}\d{2} ?(?:[A-Z\d]{4} )*$/

const PHONE_FORMATS = [
  // International, and national with a leading zero.
  "(?:\\+|\\b00|\\b011[ -])[1-9]\\d{0,2}[ .-]?(?:\\(\\d{1,4}\\)[ .-]?)?\\d{1,4}(?:[ ./-]?\\d{1,4}){1,5}" + EXTENSION,
  "(?:\\(|\\b)0\\d{1,4}\\)?[ /-]\\d{3,9}(?:[ -]\\d{2,6}){0,3}\\b" + EXTENSION,
  "\\b0[1-9](?:[ .]\\d{2}){4}\\b",
  "\\b0[1-9]\\d{1,2}[ /](?:\\d{2,3}[ .]){2}\\d{2,3}\\b",
  // North American.
  "(?:\\b1[ .-])?(?:\\(\\d{3}\\) ?|\\b\\d{3}[ .-])\\d{3}[ .-]\\d{4}\\b" + EXTENSION,
  // Russian, Spanish and Chinese.
  "\\b8 ?\\(\\d{3}\\) ?\\d{3}[ -]\\d{2}[ -]\\d{2}\\b",
  "\\b8[ -]9\\d{2}[ -]\\d{3}[ -]\\d{2}[ -]\\d{2}\\b",
  "\\b[67]\\d{2} \\d{2} \\d{2} \\d{2}\\b",
  "\\b1[3-9]\\d[ -]\\d{4}[ -]\\d{4}\\b",
  "\\b0 ?\\(\\d{2,4}\\) ?\\d{3}(?:[ -]\\d{2,4}){1,2}\\b",
  // Brazilian, with an area code.
  "\\([1-9]\\d\\) ?9?\\d{4}-\\d{4}\\b",
  // Polish, with an area code.
  "\\([1-9]\\d\\) \\d{3}[ -]\\d{2}[ -]\\d{2}\\b",
]
const PHONE_FORMAT = new RegExp(`^(?:${PHONE_FORMATS.join("|")})$`)
/** Groups of digits that are a phone number only after a word such as "phone". */
const DIGIT_GROUPS = "(?:\\(|\\b)\\d{1,12}(?:(?: ?[-./] ?| ?\\(|\\) ?| )\\d{1,11}\\)?){0,6}\\b"

/** More are a card or account number. */
const MAX_LOOSE_DIGITS = 15

export const phone: PatternDetector = {
  name: "phone",
  engine: "pii",
  label: "[PHONE]",
  program: lazyProgram([...PHONE_FORMATS, DIGIT_GROUPS].join("|")),
  limit: 64,
  triggers: { digits: 7 },
  refine(match, before) {
    const isInBrackets = match.startsWith("(") && !match.includes(")")
    const from = isInBrackets ? 1 : 0
    const end = phoneEnd(match.slice(from), isInBrackets ? `${before}(` : before)
    return end === undefined ? NONE : [[from, from + end]]
  },
}

/** Other digits may follow the number: tries the ends of all digit groups, the longest first. */
function phoneEnd(match: string, before: string): number | undefined {
  const ends = [match.length, ...[...match.matchAll(/(?<=\d)\D/g)].map(({ index }) => index).toReversed()]
  const formatted = ends.find((one) => PHONE_FORMAT.test(match.slice(0, one)))
  if (formatted !== undefined && isPhoneNumber(match.slice(0, formatted), before)) return formatted
  if (match.replaceAll(/\D/g, "").length > MAX_LOOSE_DIGITS) return undefined
  const end = ends.find((one) => hasPhoneLength(match.slice(0, one)))
  return end !== undefined && followsPhoneTerm(before, match.slice(0, end)) ? end : undefined
}

function isPhoneNumber(number: string, before: string): boolean {
  if (DATE.test(number)) return false
  if ((number[0] === "+" ? PART_OF_LARGER_INTERNATIONAL : PART_OF_LARGER).test(before)) return false
  if (!number.startsWith("+") && (followsOtherNumber(before) || IN_IBAN.test(before))) return false
  const digits = number.replace(AT_EXTENSION, "").replaceAll(/\D/g, "")
  const isAmerican = !/^\+|^\(?0/.test(number) && !NATIONAL.test(number)
  if (isAmerican && !/^1?[2-9]\d\d[2-9]\d{6}$/.test(digits)) return false
  const [least, most] = /^(?:\+|00|011[ -][2-9])/.test(number) ? [8, 17] : [9, 12]
  return digits.length >= least && digits.length <= most
}

function hasPhoneLength(number: string): boolean {
  const digits = number.replaceAll(/\D/g, "").length
  return (
    digits >= 7 &&
    digits <= 13 &&
    !DATE.test(number) &&
    !HAS_DATE.test(number) &&
    !/^\d{7}$|^(?:19|20)\d\d-\d{4}$|^\d{3}-\d\d-\d{4}$/.test(number)
  )
}

export const ssn: PatternDetector = {
  name: "ssn",
  engine: "pii",
  label: "[SSN]",
  program: lazyProgram(
    "\\b\\d{3}-\\d{2}-\\d{4}(?:-\\d+)?\\b|\\b\\d{3} \\d{2} \\d{4}\\b|(?i:ssn|soc(?:ial)?[ _-]?sec(?:urity)?(?:[ _-](?:number|no\\.?|#))?)[^\\d\\n]{0,12}\\d{9}\\b",
  ),
  limit: 64,
  triggers: { digits: 9 },
  refine(match, before) {
    const from = match.search(/\d/)
    const number = match.slice(from)
    if (/\d[-.]?$/.test(before)) return NONE
    const [, area = "", group = "", serial = ""] = /^(\d{3})[- ]?(\d{2})[- ]?(\d{4})$/.exec(number) ?? []
    const isIssued =
      area !== "" && area !== "000" && area !== "666" && area < "900" && group !== "00" && serial !== "0000"
    return isIssued ? [[from, match.length]] : NONE
  },
}

export const creditCard: PatternDetector = {
  name: "credit-card",
  engine: "pii",
  label: "[CREDIT_CARD]",
  program: lazyProgram("\\b[2-6]\\d{3}(?:[ .-]?\\d){9,15}\\b"),
  limit: 48,
  triggers: { digits: 13 },
  refine(match, before) {
    if (/\d\.?[ -]?$/.test(before)) return NONE
    // Two numbers may be adjacent: tries the ends of all digit groups, the longest first.
    const ends = [match.length, ...[...match.matchAll(/[ .-]/g)].map(({ index }) => index).toReversed()]
    const end = ends.find((one) => isCard(match.slice(0, one)))
    return end === undefined ? NONE : [[0, end]]
  },
}

/** Checks issued lengths and prefixes, and a checksum that nine of ten other numbers fail. */
function isCard(number: string): boolean {
  const digits = number.replaceAll(/\D/g, "")
  const isIssued =
    /^4(?:\d{12}|\d{15}|\d{18})$/.test(digits) ||
    /^(?:5[1-5]\d{14}|2(?:2[2-9]|[3-6]\d|7[01])\d{13}|2720\d{12})$/.test(digits) ||
    /^3[47]\d{13}$/.test(digits) ||
    /^3(?:0[0-5]|[689]\d)\d{11}$/.test(digits) ||
    /^(?:6011|65\d\d|64[4-9]\d|62\d\d|50\d\d|5[6-9]\d\d|6[0-9]\d\d|35\d\d)\d{12,15}$/.test(digits)
  return isIssued && !/^(\d)\1+$/.test(digits) && passesLuhn(digits)
}

export const iban: PatternDetector = {
  name: "iban",
  engine: "pii",
  label: "[IBAN]",
  program: lazyProgram("\\b[A-Za-z]{2}\\d{2}(?:[ -]?[A-Za-z0-9]){11,30}\\b"),
  limit: 64,
  triggers: {
    literals: IBAN_COUNTRIES.map((country) => ({ text: `${country.toLowerCase()}00`, wordStart: true as const })),
  },
  refine(match) {
    const end = isIban(match)
    return end === undefined ? NONE : [[0, end]]
  },
}

const ranged = (from: number, found: string): MatchRange[] => [[from, from + found.length]]
const EIGHT_PAIRS = /^[0-9a-f]{2}(?::[0-9a-f]{2}){7}$/i

export const ipAddress: PatternDetector = {
  name: "ip-address",
  engine: "pii",
  label: "[IP_ADDRESS]",
  program: lazyProgram(
    "\\b\\d{1,3}(?:(?:\\.|\\[\\.\\])\\d{1,3})+\\b(?:/\\d{1,2}\\b)?(?:[ -](?i:s\u00fcr\u00fcm|beta|alpha|rc|release|version))?|(?:\\b[0-9A-Fa-f]{1,4})?(?:::?[0-9A-Fa-f]{1,4}){1,40}(?:::)?(?:(?:\\.\\d{1,3}){3})?(?:/\\d{1,3}\\b)?|\\b[0-9A-Fa-f]{1,4}::(?:/\\d{1,3}\\b)?|::(?:[fF]{4}:)?\\d{1,3}(?:\\.\\d{1,3}){3}",
  ),
  limit: 256,
  triggers: { literals: [{ text: "0.0" }, { text: "0[.]0" }], colons: true },
  refine(found, contextBefore) {
    // The colon of `ip:10.0.0.1` belongs to the name.
    const from = /^:(?!:)/.test(found) && /[g-z][a-z\d]*$/i.test(contextBefore) ? 1 : 0
    const [match, before] = [found.slice(from), contextBefore]
    if (from === 0 && /[\w.:]$/.test(before)) return NONE
    const [address = "", prefix = "0"] = match.split("/")
    if (!address.includes(":")) {
      if (followsNumberTerm(before + found.slice(0, from))) return NONE
      const octets = address.replaceAll(/\[\.\]/g, ".").replaceAll(/\b0+(?=\d{1,2}\b)/g, "")
      return ipaddr.IPv4.isValidFourPartDecimal(octets) ? ranged(from, Number(prefix) > 32 ? address : match) : NONE
    }
    const isShort = address.includes("::")
    // Eight pairs of digits are an EUI-64.
    const hasShape = isShort ? /\d/.test(address) : address.split(":").length === 8 && !EIGHT_PAIRS.test(address)
    if (!hasShape || !ipaddr.IPv6.isValid(address)) return NONE
    return ranged(from, Number(prefix) > 128 ? address : match)
  },
}
