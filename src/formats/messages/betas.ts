/** The header with the beta features of Anthropic's API. No other header of the client is sent upstream. */
const BETA_HEADER = "anthropic-beta"
const BETA = /^[\w.-]{1,100}$/
const MAX_BETAS = 32

export function betasIn(header: string | null | undefined): string[] | undefined {
  return header?.split(/\s*,\s*/)
}

/** The header for a provider; without it if no value is the name of a beta. */
export function betaHeaders(betas: unknown): Record<string, string> {
  const values: readonly unknown[] = Array.isArray(betas) ? betas : []
  const names = values.filter((one) => typeof one === "string" && BETA.test(one)).slice(0, MAX_BETAS)
  return names.length > 0 ? { [BETA_HEADER]: names.join(",") } : {}
}
