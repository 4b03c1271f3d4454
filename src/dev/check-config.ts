import { PROVIDER_VARIABLES } from "../providers/table.ts"
import { readFileSync } from "node:fs"
import { parseVariables, variables } from "../config/variables.ts"
import { invalidLines } from "./start/dev-vars.ts"

export const SECRETS = ["MASTER_KEY", "BOOTSTRAP_MANAGEMENT_KEY", "DEVELOPMENT_API_KEY", "DEVELOPMENT_MANAGEMENT_KEY"]
/** Keys and base URLs of providers and search engines have open-ended names. */
const OPEN_ENDED = /_(?:API_KEY|BASE_URL)$/

/** Errors in `.dev.vars`, before anything starts. The Worker checks the rest at startup. */
export function devVarsErrors(file: string, values: NodeJS.Dict<string>): string[] {
  return [...invalidLines(".dev.vars", readFileSync(file, "utf8")), ...parseVariables(values).faults]
}

/** Unknown names in `.dev.vars`, such as misspelt ones. */
export function unknownNames(values: NodeJS.Dict<string>): string[] {
  return Object.keys(values).filter(
    (name) =>
      !(name in variables) && !SECRETS.includes(name) && !PROVIDER_VARIABLES.includes(name) && !OPEN_ENDED.test(name),
  )
}
