import { seeded } from "../../support/random-patterns.ts"
import { NAMED, ORDINARY, PLAIN } from "./contexts.ts"
import { MAKERS } from "./makers.ts"

export type Half = "tuning" | "unseen"
/** `from`, `to`: position of the secret. */
export type Line = { text: string; family: string; from: number; to: number }

const LETTERS = "abcdefghijklmnopqrstuvwxyz"
const DIGITS = "0123456789"
const ALPHABETS: Readonly<Record<string, string>> = {
  a: LETTERS.toUpperCase() + LETTERS + DIGITS,
  h: `${DIGITS}abcdef`,
  l: LETTERS + DIGITS,
  u: LETTERS.toUpperCase() + DIGITS,
  w: `${LETTERS.toUpperCase() + LETTERS + DIGITS}-_`,
  b: `${LETTERS.toUpperCase() + LETTERS + DIGITS}+/`,
  d: DIGITS,
  c: LETTERS,
}
const SEED = 41
const LINES_PER_FAMILY = 8

type Random = () => number

const oneOf = <T>(random: Random, choices: readonly T[]): T => choices[Math.floor(random() * choices.length)] as T

/** A text of a format (makers.ts). Ends with a letter or digit where it is random. */
function made(random: Random, format: string): string {
  const from = (alphabet: string, count: number) =>
    Array.from({ length: count }, () => oneOf(random, alphabet.split("")))
  return format.replaceAll(/\{([a-z])(\d+)\}/g, (_, kind: string, count: string) => {
    const written = from(ALPHABETS[kind] ?? "", Number(count)).join("")
    return /[-_+/]$/.test(written)
      ? `${written.slice(0, -1)}7`
      : /^[-_+/]/.test(written)
        ? `Q${written.slice(1)}`
        : written
  })
}

export const ALL_MAKERS = MAKERS

/** A key of a format, and which part of it is secret. */
export function keyOf(random: Random, format: string): { text: string; from: number; to: number } {
  const key = made(random, format)
  const [, lead = "", inner = key, tail = ""] = /^(.*)<(.+)>(.*)$/s.exec(key) ?? []
  return { text: lead + inner + tail, from: lead.length, to: lead.length + inner.length }
}

/** Half of a list, by a fixed seed. */
function halfOf<T>(all: readonly T[], half: Half): T[] {
  const random = seeded(SEED)
  const order = all.map((one) => ({ one, at: random() })).toSorted((one, other) => one.at - other.at)
  const middle = Math.ceil(all.length / 2)
  return (half === "tuning" ? order.slice(0, middle) : order.slice(middle)).map(({ one }) => one)
}

type Named = { key: ReturnType<typeof keyOf>; variable?: string; prose?: string; family: string }

function lineOf(template: string, { key, variable = "", prose = "", family }: Named): Line {
  const filled = template
    .replaceAll("{N}", variable)
    .replaceAll("{P}", prose)
    .replaceAll("{{", "{")
    .replaceAll("}}", "}")
  const at = filled.indexOf("{K}")
  return { text: filled.replaceAll("{K}", () => key.text), family, from: at + key.from, to: at + key.to }
}

/** Lines with a secret: vendors and contexts of one half. */
export function secretLines(half: Half): Line[] {
  const random = seeded(half === "tuning" ? 1 : 2)
  const [plain, naming] = [halfOf(PLAIN, half), halfOf(NAMED, half)]
  return halfOf(MAKERS, half).flatMap(({ name, formats = [], named = [] }) =>
    Array.from({ length: LINES_PER_FAMILY }, (_, at): Line => {
      const isNamed = formats.length === 0 || (named.length > 0 && at % 2 === 1)
      if (!isNamed) return lineOf(oneOf(random, plain), { key: keyOf(random, oneOf(random, formats)), family: name })
      const { format, variable, prose } = oneOf(random, named)
      return lineOf(oneOf(random, naming), { key: keyOf(random, format), variable, prose, family: name })
    }),
  )
}

/** Lines without a secret; each half has different sentences of each family. */
export function ordinaryLines(half: Half): { text: string; family: string }[] {
  const random = seeded(half === "tuning" ? 3 : 4)
  return Object.entries(ORDINARY).flatMap(([family, templates]) =>
    halfOf(templates, half).flatMap((template) =>
      Array.from({ length: /\{[a-z]\d+\}/.test(template) ? LINES_PER_FAMILY : 1 }, () => ({
        text: made(random, template),
        family,
      })),
    ),
  )
}
