import { randomBytes } from "node:crypto"
import { existsSync, readFileSync, writeFileSync } from "node:fs"

/** `NAME=value` lines. Quotes around a value are taken off; comments and anything else are passed over. */
export function parseEnv(text: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const line of text.split(/\r?\n/)) {
    const match = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*$/.exec(line)
    if (match?.[1] !== undefined) found[match[1]] = toValue(match[2] ?? "")
  }
  return found
}

/** What stands in quotes, or all up to a comment. */
function toValue(text: string): string {
  const quoted = /^(["'`])(.*?)\1\s*(?:#.*)?$/.exec(text)
  return quoted ? (quoted[2] ?? "") : text.replace(/\s+#.*$/, "")
}

const GENERATED: Record<string, () => string> = {
  MASTER_KEY: () => randomBytes(32).toString("base64"),
  BOOTSTRAP_MANAGEMENT_KEY: () => `sk-gw-boot-${randomBytes(32).toString("base64url")}`,
}

/** The secrets of development: what is missing is made, what is there is left alone. */
export function ensureDevVars(file: string): Record<string, string> {
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

export function readEnvFile(file: string): Record<string, string> {
  return existsSync(file) ? parseEnv(readFileSync(file, "utf8")) : {}
}

export function writeEnvFile(file: string, values: Record<string, string>): void {
  const lines = Object.entries(values).map(([name, value]) => `${name}=${value}\n`)
  writeFileSync(file, lines.join(""), { mode: 0o600 })
}
