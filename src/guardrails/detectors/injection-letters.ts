import { readAs, UNREAD } from "../content/fold.ts"

/** Value of a unit that is no letter. */
export const GAP = 1
export const SKIPPED = 2
export const SENTENCE_END = 3
export const MARK = 4
const FIRST_IDEOGRAPH = 0x2e80

/** By unit: its letter without accent and case, or one of the kinds above; 0 if not computed yet. */
export const letters = new Uint16Array(0x10000)

export function letterOf(unit: number): number {
  return letters[unit] || (letters[unit] = classify(unit))
}

function classify(unit: number): number {
  const read = readAs(unit)
  if (read === UNREAD) return SKIPPED
  if (read === 10 || read === 13) return SENTENCE_END
  const char = String.fromCharCode(read > 0xffff ? unit : read)
  if (/[.!?。।؟…]/.test(char)) return SENTENCE_END
  if (/[<>[\]{}|#=*@"“«„:/\\_]/.test(char)) return MARK
  if (/\d/.test(char)) return (LIKE_LATIN[char] ?? "0").charCodeAt(0)
  if (!/[\p{L}\p{M}]/u.test(char)) return GAP
  return isHangul(read) ? read : plainLetter(char.toLowerCase()).charCodeAt(0)
}

/** Digits that imitate Latin letters. */
export const LETTER_OF_DIGIT = { "0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t" } as const

/** The dotless i and other letters that Unicode does not decompose. */
const UNDIVIDED: Readonly<Record<string, string>> = { ı: "i", ł: "l", ø: "o", đ: "d", ß: "s", æ: "a" }
/** Digits and letters of other scripts that imitate Latin letters. Replaced in every word, also in genuine ones. */
const LIKE_LATIN: Readonly<Record<string, string>> = {
  ...LETTER_OF_DIGIT,
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
  const plain = UNDIVIDED[letter] ?? letter.normalize("NFD").charAt(0)
  return LIKE_LATIN[plain] ?? plain
}

export const isHangul = (letter: number) => letter >= 0xac00 && letter <= 0xd7a3
/** Letters of a script that is written without spaces. */
export const isIdeograph = (letter: number) => letter >= FIRST_IDEOGRAPH && !isHangul(letter)
/** Letters of scripts without spaces, or with prefixes that are written as one word. */
export const isJoined = (letter: number) => letter >= FIRST_IDEOGRAPH || (letter >= 0x620 && letter <= 0x6ff)
