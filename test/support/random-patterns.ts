/** Numbers that look random and are the same in every run. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

type Random = () => number
const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)] as T

const WORDS = [
  "secret",
  "password",
  "ignore",
  "instructions",
  "key",
  "project",
  "id",
  "Köln",
  "confidential",
  "aa",
  "ab",
]
const CLASSES = ["\\d", "\\w", "[a-z]", "[A-Z0-9]", ".", "[^\\n,]", "\\s", "[ab]", "\\pL", "[-._]"]
const REPEATS = ["*", "+", "?", "{2}", "{3,5}", "{0,20}", "{0,64}", "{1,100}", "{8}", "{0,300}", "{20}"]

/** A pattern as a user or an attacker may write it. */
export function randomPattern(random: Random, depth = 0): string {
  const parts = Array.from({ length: 1 + Math.floor(random() * 4) }, () => {
    const kind = random()
    if (kind < 0.4) return pick(random, WORDS)
    if (kind < 0.7) return pick(random, CLASSES) + (random() < 0.7 ? pick(random, REPEATS) : "")
    if (kind < 0.8) return pick(random, ["\\b", "^", "$", "(?i)", ""])
    if (depth > 2) return "a"
    return `(?:${randomPattern(random, depth + 1)}|${randomPattern(random, depth + 1)})${random() < 0.3 ? pick(random, ["?", "{0,3}", "{2}"]) : ""}`
  })
  return parts.join("")
}

/** Texts that reach many states of a pattern: its characters shuffled, in order, and almost in order. */
export function adversarialTexts(pattern: string, length: number, random: Random): string[] {
  const literals = pattern.match(/[A-Za-zäöü]{2,}/g) ?? ["ab"]
  const chars = [...new Set(`${literals.join("")}ab1 -é`)]
  const noise = Array.from({ length: 4_096 }, () => pick(random, chars)).join("")
  const pieces = Array.from({ length: 2_048 }, () =>
    random() < 0.6 ? pick(random, literals) : pick(random, chars).repeat(1 + Math.floor(random() * 12)),
  ).join("")
  const broken = `${literals.join(" ")}1`.slice(0, -2)
  return [noise, pieces, broken, chars[0] ?? "a"].map((part) => {
    // Shuffled, so that the text does not repeat one part.
    const parts = Array.from({ length: Math.ceil(length / part.length) }, () => {
      const at = Math.floor(random() * part.length)
      return part.slice(at) + part.slice(0, at)
    })
    return parts.join("").slice(0, length)
  })
}
