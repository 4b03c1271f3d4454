import path from "node:path"
import type { VisibleSecret } from "../../vault/secret.ts"
import type { Folder } from "./folder.ts"

/**
 * Placeholders for a running agent: its environment cannot change, but shells read one of these files with each command
 * (bash by BASH_ENV, zsh by its own rule), and other programs can read the JSON.
 */
export function secretFiles(
  { home }: Folder,
  secrets: readonly VisibleSecret[],
  /** Variables that the agent needs: a secret must not replace them. */
  reserved: ReadonlySet<string>,
): Record<string, string> {
  const usable = secrets.map((secret) => ({ ...secret, variable: secret.name.toUpperCase() }))
  const lines = usable
    .filter(({ variable }) => !reserved.has(variable))
    .map(({ variable, placeholder }) => `export ${variable}='${placeholder}'\n`)
  const list = Object.fromEntries(usable.map(({ name, hosts, placeholder }) => [name, { placeholder, hosts }]))
  const { json, bash, zsh } = pathsOf(home)
  return { [bash]: lines.join(""), [zsh]: lines.join(""), [json]: `${JSON.stringify(list, null, 2)}\n` }
}

/** Environment variables that point the agent and its shells to the secret files. */
export function secretFileEnv({ home }: Folder): Record<string, string> {
  const { json, bash } = pathsOf(home)
  // Without SHLVL, a bash whose input is a socket, as Node's pipes are, assumes to run under rshd and ignores BASH_ENV.
  return { INTERN_SECRETS_FILE: json, BASH_ENV: bash, SHLVL: "1" }
}

function pathsOf(home: string) {
  return {
    json: path.join(home, "secrets.json"),
    bash: path.join(home, ".secrets.sh"),
    zsh: path.join(home, ".zshenv"),
  }
}
