const UNDECOMPOSED: Readonly<Record<string, string>> = { ł: "l", ø: "o", ß: "ss", ı: "i", đ: "d", æ: "ae", œ: "oe" }

/** In small letters, without accents. */
export function fold(word: string): string {
  const lower = word.toLowerCase()
  if (/^[a-z]*$/.test(lower)) return lower
  return lower
    .normalize("NFD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[łøßıđæœ]/g, (char) => UNDECOMPOSED[char] ?? char)
}

/** A Russian given name without the ending of its case. */
export function stemCyrillic(name: string): string {
  return name.replace(/(?:ой|ей|ом|ем|[аяйьуюыие])$/u, "")
}
