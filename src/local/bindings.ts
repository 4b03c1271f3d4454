import { readFileSync } from "node:fs"

/** Keys and base URLs of providers, whose names are open-ended. */
const OPEN_ENDED = /_(?:API_KEY|BASE_URL)$/
const FILE = /_FILE$/

/**
 * The variables of an environment that the Worker reads. `OPENAI_API_KEY_FILE=/run/secrets/openai` sets OPENAI_API_KEY
 * from that file, unless the variable itself is set. Throws if the file cannot be read.
 */
export function bindingsOf(env: NodeJS.Dict<string>, names: readonly string[]): Record<string, string> {
  const isRead = (name: string) => names.includes(name) || OPEN_ENDED.test(name)
  const bindings: Record<string, string> = {}
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || value === "") continue
    const from = name.replace(FILE, "")
    if (isRead(name)) bindings[name] = value
    else if (from !== name && isRead(from) && !env[from]) bindings[from] = readSecret(name, value)
  }
  return bindings
}

function readSecret(name: string, file: string): string {
  try {
    return readFileSync(file, "utf8").trim()
  } catch {
    throw new Error(`${name} names ${file}, which cannot be read.`)
  }
}
