import type { BuiltInProvider } from "../../providers/built-in.ts"
import { builtInProviders } from "../../providers/table.ts"

type Variables = NodeJS.Dict<string>

/**
 * The variables of the shell that set a provider's key, with its base URL, the base URL of a server without a key, and
 * `CUSTOM_PROVIDERS`. `written`: those of `.dev.vars`, which take precedence. A key without a known base URL is
 * omitted: with it the gateway would not start.
 */
export function providersOfShell(shell: Variables, written: Variables): Record<string, string> {
  const found = builtInProviders.map((provider) => variablesOf(provider, shell, written))
  return Object.assign({}, ...found, chooseVariables(["CUSTOM_PROVIDERS"], shell, written)) as Record<string, string>
}

function variablesOf(provider: BuiltInProvider, shell: Variables, written: Variables): Record<string, string> {
  const { secret, aliases, addresses, settings, baseUrl, keyless } = provider
  const keys = [secret, ...aliases]
  if (keys.some((name) => written[name])) return {}
  const key = keys.find((name) => shell[name])
  const addressNames = [secret.replace(/_API_KEY$/, "_BASE_URL"), ...addresses.flatMap(([names]) => names)]
  if (key === undefined) return keyless ? chooseVariables(addressNames, shell, written) : {}
  if (baseUrl === null && !addressNames.some((name) => written[name] || shell[name])) return {}
  return chooseVariables([key, ...addressNames, ...settings], shell, written)
}

function chooseVariables(names: readonly string[], shell: Variables, written: Variables): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (shell[name] && !written[name] ? [[name, shell[name]]] : [])))
}
