import { GatewayError } from "../edge/errors.ts"
import { variable, type Env } from "../env.ts"
import { BASE_URL_WORDS, BaseUrl } from "./base-url.ts"
import { parseCustomProviders, toProvider, type CustomProvider } from "./custom.ts"
import type { Provider } from "./provider.ts"
import { builtInProviders, type BuiltInProvider } from "./table.ts"

type Configuration = { providers: ReadonlyMap<string, Provider>; custom: readonly CustomProvider[] }

/** An isolate keeps one `env`, and what it says does not change. */
const remembered = new WeakMap<Env, Configuration>()

/** The providers this deployment can reach, by slug. */
export function configuredProviders(env: Env): ReadonlyMap<string, Provider> {
  return configurationOf(env).providers
}

/** The servers the operator added, with the models they were said to have. */
export function customProviders(env: Env): readonly CustomProvider[] {
  return configurationOf(env).custom
}

function configurationOf(env: Env): Configuration {
  const known = remembered.get(env)
  if (known) return known
  const custom = readCustomProviders(env)
  const all = [
    ...builtInProviders.flatMap((provider) => toConfigured(provider, env) ?? []),
    ...custom.map(toProvider),
    ...(env.EMBEDDED ? [embedded] : []),
  ]
  const configuration = { providers: new Map(all.map((provider) => [provider.slug, provider])), custom }
  remembered.set(env, configuration)
  return configuration
}

const embedded: Provider = {
  slug: "embedded",
  name: "Embedded",
  baseUrl: "https://embedded.invalid/v1",
  wire: "openai",
  keyHeader: "authorization",
  embedded: true,
  quirks: {},
}

function toConfigured(provider: BuiltInProvider, env: Env): Provider | undefined {
  const apiKey = variable(env, provider.secret)
  if (apiKey === undefined) return undefined
  const { slug, name, quirks } = provider
  return { slug, name, baseUrl: toBaseUrl(provider, env), wire: "openai", apiKey, keyHeader: "authorization", quirks }
}

function toBaseUrl({ secret, baseUrl }: BuiltInProvider, env: Env): string {
  const name = secret.replace(/_API_KEY$/, "_BASE_URL")
  const override = variable(env, name)
  if (override === undefined) return baseUrl
  const parsed = BaseUrl.safeParse(override)
  if (!parsed.success) throw new GatewayError("misconfigured", `${name}: ${BASE_URL_WORDS}.`)
  return parsed.data
}

/** What the operator wrote wins over what was found on a local port. */
function readCustomProviders(env: Env): CustomProvider[] {
  const written = read(env, "CUSTOM_PROVIDERS")
  const taken = new Set(written.map(({ slug }) => slug))
  return [...written, ...read(env, "LOCAL_PROVIDERS").filter(({ slug }) => !taken.has(slug))]
}

function read(env: Env, name: "CUSTOM_PROVIDERS" | "LOCAL_PROVIDERS"): readonly CustomProvider[] {
  const json = variable(env, name)
  return json === undefined ? [] : parseCustomProviders(name, json)
}
