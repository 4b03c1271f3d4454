import { seeded } from "../../support/random-patterns.ts"

const DIGITS = "0123456789"
const LOWER = "abcdefghijklmnopqrstuvwxyz"
const UPPER = LOWER.toUpperCase()

const ALPHABETS: Readonly<Record<string, string>> = {
  w: UPPER + LOWER + DIGITS,
  u: UPPER + DIGITS,
  l: LOWER + DIGITS,
  a: LOWER,
  A: UPPER,
  n: DIGITS,
  d: DIGITS,
  h: `${DIGITS}abcdef`,
  H: `${DIGITS}ABCDEF`,
  b: `${UPPER}${LOWER}${DIGITS}+/`,
  s: `${UPPER}${LOWER}${DIGITS}-_`,
  3: `${UPPER}234567`,
  /** The digits of Base58 and of Bech32. */
  f: "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
  z: "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
  x: `${UPPER}${LOWER}${DIGITS}!@#$%^&*()-_+=~[]<>?`,
}

type Random = () => number

const pick = (random: Random, from: string) => from.charAt(Math.floor(random() * from.length))
const drawn = (random: Random, alphabet: string, length: number) =>
  Array.from({ length }, () => pick(random, ALPHABETS[alphabet] ?? alphabet)).join("")

/** Blanks, hyphens, dots or no-break spaces between groups of digits. */
const SEPARATORS: Readonly<Record<string, string>> = { sp: " ", da: "-", dot: ".", nbsp: "\u00A0" }

function grouped(value: string, [sizes = "", separator = ""]: string[]): string {
  let [at, groups] = [0, [] as string[]]
  for (const size of sizes) {
    groups.push(value.slice(at, at + Number(size)))
    at += Number(size)
  }
  if (at < value.length) groups.push(value.slice(at))
  return groups.join(SEPARATORS[separator] ?? "")
}

function luhnDigit(digits: string): number {
  let sum = 0
  for (const [at, digit] of digits.split("").toReversed().entries()) {
    const doubled = Number(digit) * 2
    sum += at % 2 === 1 ? Number(digit) : doubled > 9 ? doubled - 9 : doubled
  }
  return (10 - (sum % 10)) % 10
}

function card(random: Random, args: string, isValid: boolean): string {
  const [prefix = "", length = "16", grouping = ""] = args.split(" ")
  const digits = prefix + drawn(random, "d", Number(length) - prefix.length - 1)
  const check = (luhnDigit(digits) + (isValid ? 0 : 3)) % 10
  return grouped(`${digits}${check}`, grouping.split("-"))
}

const remainder97 = (digits: string) => {
  let rest = 0
  for (const digit of digits) rest = (rest * 10 + Number(digit)) % 97
  return rest
}

/** `DE n18 s`: country, structure of the account number, and `s` for groups of four, `l` for lower case. */
function iban(random: Random, args: string, isValid: boolean): string {
  const [country = "", structure = "", form = ""] = args.split(" ")
  const account = [...structure.matchAll(/([a-zA-Z])(\d+)/g)]
    .map(([, alphabet = "", length]) =>
      drawn(random, alphabet === "w" ? "u" : alphabet === "a" ? "A" : alphabet, Number(length)),
    )
    .join("")
  const letters = (text: string) =>
    text.toUpperCase().replaceAll(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55))
  const check = 98 - remainder97(`${letters(account)}${letters(country)}00`)
  const digits = String(isValid ? check : ((check + 12) % 90) + 5).padStart(2, "0")
  const value = `${country.toUpperCase()}${digits}${account}`
  if (form === "l") return value.toLowerCase()
  return grouped(value, [form === "" ? "" : "4".repeat(Math.floor(value.length / 4)), form === "s" ? "sp" : form])
}

function uuid(random: Random): string {
  const part = (length: number) => drawn(random, "h", length)
  return [part(8), part(4), `4${part(3)}`, `a${part(3)}`, part(12)].join("-")
}

function jwt(random: Random): string {
  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")
  const claims = { sub: drawn(random, "d", 10), iat: 1_764_316_800, scope: "read" }
  return [encoded({ alg: "HS256", typ: "JWT" }), encoded(claims), drawn(random, "s", 43)].join(".")
}

const NAMED: Readonly<Record<string, (random: Random, args: string) => string>> = {
  uuid,
  jwt,
  // Source scanners look for the complete header.
  pk: () => ["PRIVATE", "KEY"].join(" "),
  lines: (random, count) => Array.from({ length: Number(count) }, () => drawn(random, "b", 64)).join("\n"),
  hexcolons: (random, count) => Array.from({ length: Number(count) }, () => drawn(random, "H", 2)).join(":"),
  /** `ci:ghp_#36`: Base64 of a text, in which `#36` becomes 36 letters and digits. */
  base64: (random, text) =>
    Buffer.from(text.replaceAll(/#(\d+)/g, (_, length) => drawn(random, "w", Number(length)))).toString("base64"),
  cc: (random, args) => card(random, args, true),
  badcc: (random, args) => card(random, args, false),
  iban: (random, args) => iban(random, args, true),
  badiban: (random, args) => iban(random, args, false),
}

function expand(text: string, random: Random): string {
  const escapes: Readonly<Record<string, string>> = { "\\n": "\n", "\\t": "\t", "\\\\n": "\\n" }
  return text
    .replaceAll(/\\\\n|\\[nt]/g, (escape) => escapes[escape] ?? escape)
    .replaceAll(/⟦(\w+) ?([^⟧]*)⟧/g, (whole, kind: string, args: string) => {
      const named = NAMED[kind]
      if (named) return named(random, args)
      if (!ALPHABETS[kind]) throw new Error(`There is no format ${whole}.`)
      return drawn(random, kind, Number(args))
    })
}

export type FormatLine = { text: string; labels: { slug: string; start: number; end: number }[] }

/**
 * `{{secrets|ghp_⟦w 36⟧}}`: labels as in the corpus; `⟦w 36⟧` becomes 36 random letters and digits, so that no source
 * scanner takes a line for a real key. The same line has the same values in every run.
 */
export function toFormatLine(written: string): FormatLine {
  const random = seeded(written.split("").reduce((hash, char) => (Math.imul(hash, 31) + char.charCodeAt(0)) >>> 0, 7))
  const labels: FormatLine["labels"] = []
  let text = ""
  for (const part of written.split(/(\{\{[a-z-]+\|.*?\}\}(?!\}))/)) {
    const [, slug, value] = /^\{\{([a-z-]+)\|(.*)\}\}$/.exec(part) ?? []
    const start = text.length
    text += expand(value ?? part, random)
    if (slug !== undefined) labels.push({ slug, start, end: text.length })
  }
  return { text, labels }
}
