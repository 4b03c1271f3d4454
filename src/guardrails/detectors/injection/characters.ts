import { normalizeRune, IGNORED } from "../../content/texts/normalize.ts"

/** Value of a unit that is no letter. */
export const SEPARATOR = 1
export const SKIPPED = 2
export const SENTENCE_END = 3
export const SYMBOL = 4
const FIRST_IDEOGRAPH = 0x2e80

/** By unit: its letter without accent and case, or one of the kinds above; 0 if not computed yet. */
export const letterTable = new Uint16Array(0x10000)

export function letterOf(unit: number): number {
  return letterTable[unit] || (letterTable[unit] = classify(unit))
}

function classify(unit: number): number {
  const normalized = normalizeRune(unit)
  if (normalized === IGNORED) return SKIPPED
  if (normalized === 10 || normalized === 13) return SENTENCE_END
  const char = String.fromCharCode(normalized > 0xffff ? unit : normalized)
  if (/[.!?。।؟…]/.test(char)) return SENTENCE_END
  if (/[<>[\]{}|#=*@"“«„:/\\_]/.test(char)) return SYMBOL
  if (/\d/.test(char)) return (LATIN_LOOKALIKES[char] ?? "0").charCodeAt(0)
  if (!/[\p{L}\p{M}]/u.test(char)) return SEPARATOR
  return isHangul(normalized) ? normalized : plainLetter(char.toLowerCase()).charCodeAt(0)
}

/** Digits that imitate Latin letters. */
export const LEET_DIGITS = { "0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t" } as const

/** The dotless i and other letters that Unicode does not decompose. */
const NON_DECOMPOSING: Readonly<Record<string, string>> = { ı: "i", ł: "l", ø: "o", đ: "d", ß: "s", æ: "a" }
/** Digits and letters of other scripts that imitate Latin letters. Replaced in every word, also in genuine ones. */
const LATIN_LOOKALIKES: Readonly<Record<string, string>> = {
  ...LEET_DIGITS,
  а: "a",
  е: "e",
  о: "o",
  р: "p",
  с: "c",
  у: "y",
  х: "x",
  і: "i",
  ѕ: "s",
  ј: "j",
  ο: "o",
  α: "a",
  ι: "i",
}

function plainLetter(letter: string): string {
  const plain = NON_DECOMPOSING[letter] ?? letter.normalize("NFD").charAt(0)
  return LATIN_LOOKALIKES[plain] ?? plain
}

export const isHangul = (letter: number) => letter >= 0xac00 && letter <= 0xd7a3
/** Letters of a script that is written without spaces. */
export const isIdeograph = (letter: number) => letter >= FIRST_IDEOGRAPH && !isHangul(letter)
/** Letters of scripts without spaces, or with prefixes that are written as one word. */
export const isUnspaced = (letter: number) => letter >= FIRST_IDEOGRAPH || (letter >= 0x620 && letter <= 0x6ff)

/**
 * The letters of a text: only ASCII, also other Latin letters, ideographs or kana, or also letters of another script, such
 * as Cyrillic, Devanagari or Hangul. A window has the largest of its sentences.
 */
export const SCRIPT = { ascii: 0, latinOrIdeographs: 1, other: 2 } as const
export type Script = (typeof SCRIPT)[keyof typeof SCRIPT]

const FIRST_GREEK = 0x370
/** From Greek to here are all alphabets of other scripts. */
const LAST_BEFORE_LATIN_ADDITIONS = 0x1cff

/** The script of a letter beyond ASCII. */
export function scriptOf(unit: number): Script {
  const isAlphabet = unit >= FIRST_GREEK && unit <= LAST_BEFORE_LATIN_ADDITIONS
  return isAlphabet || isHangul(unit) ? SCRIPT.other : SCRIPT.latinOrIdeographs
}
