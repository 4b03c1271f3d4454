import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import { seeded } from "../../support/random-patterns.ts"
import type { Half } from "./secrets.ts"

/** A line in a language: an attempt at an injection, or an ordinary prompt. */
export type Prompt = { text: string; language: string; family: string; group: string; isAttack: boolean }

/** The family of ordinary prompts that quote attacks, write prompts or instruct an assistant. */
export const LOOKALIKE = "lookalike"
/** The family of ordinary prompts as developers, support staff and writers send them, many with several sentences. */
export const REQUEST = "request"
const fixtures = path.join(import.meta.dirname, "../../fixtures")
const folder = path.join(fixtures, "injection")
const writtenFolder = path.join(fixtures, "injection-lines")
const blindFolder = path.join(fixtures, "injection-blind")
const SEED = 17
const PER_PHRASING = 8
const FAMILIES: Readonly<Record<string, string>> = {
  o: "override",
  r: "role play",
  l: "prompt leak",
  e: "encoding",
  i: "indirect",
  d: "disguise",
  p: "pretext",
  s: "steering",
  f: "fake message",
  x: "exfiltration",
}

type Phrasing = Omit<Prompt, "text"> & { template: string }

function phrasings(): Phrasing[] {
  return readdirSync(folder)
    .toSorted()
    .flatMap((file) =>
      readFileSync(path.join(folder, file), "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => {
          const [, kind, template = ""] = /^(?:!([a-z])|-) (.*)$/.exec(line) ?? []
          const family = kind === undefined ? "ordinary" : (FAMILIES[kind] ?? "")
          return {
            template,
            language: path.basename(file, ".txt"),
            family,
            group: template,
            isAttack: kind !== undefined,
          }
        }),
    )
}

/** Different texts of a template, in which `{a|b}` is one or the other. */
function textsOf(template: string, random: () => number): string[] {
  const texts = new Set<string>()
  for (let tries = 0; tries < PER_PHRASING * 4 && texts.size < PER_PHRASING; tries++) {
    const text = template.replaceAll(/\{([^{}]*)\}/g, (_, choices: string) => {
      const all = choices.split("|")
      return all[Math.floor(random() * all.length)] ?? ""
    })
    texts.add(text.replaceAll(/ {2,}/g, " ").trim())
  }
  return [...texts]
}

/** A heading, `# !o name`, `# - name`, `# + name` or `# ~ name`, states the family of the lines below it. */
const HEADING = /^# (?:!([a-z])|-|\+|~) /
/** By the sign of the heading. */
const BENIGN_FAMILIES: Readonly<Record<string, string>> = { "-": "ordinary", "+": REQUEST, "~": LOOKALIKE }

/** Prompts that were written one by one, each below a heading. */
function linesIn(from: string): Prompt[] {
  return readdirSync(from)
    .toSorted()
    .flatMap((file) => {
      const language = file.slice(0, 2)
      let [heading, kind]: [string, string | undefined] = ["", undefined]
      return readFileSync(path.join(from, file), "utf8")
        .trimEnd()
        .split("\n")
        .flatMap((line): Prompt[] => {
          const match = HEADING.exec(line)
          if (match) [heading, kind] = [line, match[1]]
          if (match || heading === "") return []
          const family = (kind === undefined ? BENIGN_FAMILIES[heading.charAt(2)] : FAMILIES[kind]) ?? ""
          const text = line.replaceAll("\\n", "\n").replaceAll("\\u200b", "\u200b")
          return [{ text, language, family, group: `${language} ${heading}`, isAttack: kind !== undefined }]
        })
    })
}

/** All lines of a heading are in one half, which follows from the name: new lines move no others. */
const written = (half: Half): Prompt[] =>
  linesIn(writtenFolder).filter(({ group }) => halfOfGroup(group.replace("~", "-")) === half)

/** Prompts by an author who knew neither the detector nor the other prompts. Nothing is fitted or tuned with them. */
export const blindPrompts = (): Prompt[] => linesIn(blindFolder)

const halfOfGroup = (name: string): Half =>
  Number.parseInt(createHash("sha256").update(name).digest("hex").slice(0, 2), 16) % 2 === 0 ? "tuning" : "unseen"

/** Prompts of one half: no phrasing is in both. */
export function prompts(half: Half): Prompt[] {
  return [...templated(half), ...written(half)]
}

function templated(half: Half): Prompt[] {
  const random = seeded(SEED)
  const groups = Map.groupBy(phrasings(), ({ language, isAttack }) => `${language} ${isAttack}`)
  return [...groups.values()].flatMap((group) => {
    const order = group.map((one) => ({ one, at: random() })).toSorted((one, other) => one.at - other.at)
    const middle = Math.ceil(order.length / 2)
    const chosen = half === "tuning" ? order.slice(0, middle) : order.slice(middle)
    return chosen.flatMap(({ one: { template, ...others } }) =>
      textsOf(template, seeded(template.length * 31 + 7)).map((text) => ({ ...others, text })),
    )
  })
}
