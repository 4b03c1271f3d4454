import { randomBytes } from "node:crypto"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { parseEnv } from "node:util"

const ENTRY = /^[ \t]*(?:export[ \t]+)?[A-Za-z_][\w.]*[ \t]*=[ \t]*(?:"[^"]*"|'[^']*'|`[^`]*`|[^\n]*)/gm

/**
 * A message for each line that is neither empty, nor a comment, nor part of `NAME=value`. Quotes no line: it may
 * contain a key.
 */
export function invalidLines(file: string, text: string): string[] {
  const unmatched = text.replaceAll("\r\n", "\n").replace(ENTRY, (entry) => entry.replace(/[^\n]/g, ""))
  return unmatched
    .split("\n")
    .flatMap((line, at) => (/^\s*(?:#.*)?$/.test(line) ? [] : [`${file} line ${at + 1}: must be NAME=value.`]))
}

/** The required secrets, with their generators. */
export const GENERATED = {
  MASTER_KEY: () => randomBytes(32).toString("base64"),
  BOOTSTRAP_MANAGEMENT_KEY: () => `sk-gw-boot-${randomBytes(32).toString("base64url")}`,
} satisfies Record<string, () => string>

/** The variables of `.dev.vars`. Missing secrets are generated; existing lines are unchanged. */
export function ensureDevVars(file: string): NodeJS.Dict<string> {
  const text = existsSync(file) ? readFileSync(file, "utf8") : ""
  const present = parseEnv(text)
  const missing = Object.entries(GENERATED).filter(([name]) => !present[name])
  if (missing.length > 0) {
    const lines = missing.map(([name, make]) => `${name}=${make()}\n`).join("")
    const separator = text === "" || text.endsWith("\n") ? "" : "\n"
    writeFileSync(file, text + separator + lines, { mode: 0o600 })
  }
  return parseEnv(readFileSync(file, "utf8"))
}

/** Sets variables in a file of `NAME=value` lines; other lines are unchanged. */
export function setVariables(file: string, values: Readonly<Record<string, string>>): void {
  const text = existsSync(file) ? readFileSync(file, "utf8") : ""
  const others = text.split("\n").filter((line) => !Object.keys(values).some((name) => line.startsWith(`${name}=`)))
  const lines = Object.entries(values).map(([name, value]) => `${name}=${value}`)
  writeFileSync(file, `${[...others.join("\n").trimEnd().split("\n"), ...lines].join("\n")}\n`, { mode: 0o600 })
}

export function readEnvFile(file: string): NodeJS.Dict<string> {
  return existsSync(file) ? parseEnv(readFileSync(file, "utf8")) : {}
}

export function writeEnvFile(file: string, values: Record<string, string>): void {
  const lines = Object.entries(values).map(([name, value]) => `${name}=${value}\n`)
  writeFileSync(file, lines.join(""), { mode: 0o600 })
}
