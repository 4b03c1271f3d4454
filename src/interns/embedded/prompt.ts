import type { InternConfig } from "../hosts/host.ts"
import { type Disk } from "./shell/disk.ts"
import { HOME } from "./home.ts"

/** Further instructions in the folder of an agent. */
export const AGENTS_FILE = `${HOME}/AGENTS.md`
const MAX_AGENTS_CHARS = 32_000
const SKILL = /\/skills\/([^/]+)\/SKILL\.md$/
const MAX_SKILLS = 50
const MAX_DESCRIPTION_CHARS = 300

type Files = Pick<Disk, "read" | "paths">

export function systemPrompt(
  { name, instructions }: InternConfig,
  files: Files,
  notes: readonly string[],
  now = new Date(),
): string {
  const about =
    `You are ${name}, an intern: an agent that works for a person, with tools. Your files are below ${HOME}. ` +
    `Secrets that you may use are in the shell's environment, as placeholders that become values on their way to the ` +
    `hosts they are for, in headers over https. Today is ${now.toISOString().slice(0, 10)}. Do what you are asked, and say in the end what you did.`
  const parts = [about, ...notes, instructions ?? "", agentsText(files), skillsText(files)]
  return parts.filter((part) => part !== "").join("\n\n")
}

/** The text of AGENTS.md; empty without one. */
export function agentsText(files: Files): string {
  const found = files.read(AGENTS_FILE)
  return found ? new TextDecoder().decode(found).trim().slice(0, MAX_AGENTS_CHARS) : ""
}

/** The model reads a skill when it needs it; until then, only its name and description are in its context. */
function skillsText(files: Files): string {
  const lines = files
    .paths()
    .filter((path) => SKILL.test(path))
    .slice(0, MAX_SKILLS)
    .map((path) => {
      const { name, description } = frontMatterOf(files.read(path))
      const about = description === undefined ? "" : `: ${description.slice(0, MAX_DESCRIPTION_CHARS)}`
      return `- ${name ?? SKILL.exec(path)?.[1] ?? path} (${path})${about}`
    })
  if (lines.length === 0) return ""
  return ["Skills, each described in a file. Read the file before you do what the skill is for.", ...lines].join("\n")
}

function frontMatterOf(bytes: Uint8Array | undefined): Record<string, string | undefined> {
  const [, block = ""] = /^---\r?\n(.*?)\r?\n---/s.exec(new TextDecoder().decode(bytes)) ?? []
  const pairs = [...block.matchAll(/^(name|description):[ \t]*(.+)$/gm)]
  return Object.fromEntries(
    pairs.map(([, field = "", value = ""]) => [field, value.trim().replace(/^(["'])(.*)\1$/, "$2")]),
  )
}
