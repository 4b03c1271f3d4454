import { parseJson } from "../support/text/json.ts"
import * as z from "zod"
import { GatewayError } from "../errors/errors.ts"
import { configOf, credential } from "../config/config.ts"
import type { Env } from "../config/env.ts"
import { BASE_URL_RULE, BaseUrl, forFormat } from "../config/base-url.ts"
import { parseCustomProviders, toProvider, type CustomProvider } from "./custom.ts"
import { cloudFields, cloudKeys } from "./cloud/configured.ts"
import { type Provider, type Quirks, toKeys } from "./provider.ts"
import type { BuiltInProvider } from "./built-in.ts"
import { builtInProviders } from "./table.ts"

type Configuration = {
  providers: ReadonlyMap<string, Provider>
  reachable: ReadonlyMap<string, Provider>
  custom: readonly CustomProvider[]
}

/** Cached by `env`, which an isolate keeps and whose values do not change. */
const remembered = new WeakMap<Env, Configuration>()

/** The providers this deployment can reach, by slug. */
export function configuredProviders(env: Env): ReadonlyMap<string, Provider> {
  return configurationOf(env).providers
}

/** Also includes providers with a known URL but no gateway key, for BYOK credentials. */
export function reachableProviders(env: Env): ReadonlyMap<string, Provider> {
  return configurationOf(env).reachable
}

/** The servers that the operator configured, with their models. */
export function customProviders(env: Env): readonly CustomProvider[] {
  return configurationOf(env).custom
}

function configurationOf(env: Env): Configuration {
  const cached = remembered.get(env)
  if (cached) return cached
  const custom = readCustomProviders(env)
  const all = [
    ...builtInProviders.flatMap((provider) => toConfigured(provider, env) ?? []),
    ...custom.map(toProvider),
    ...(env.EMBEDDED ? embedded : []),
  ]
  const providers = new Map(all.map((provider) => [provider.slug, provider]))
  const keyless = builtInProviders.flatMap((provider) =>
    providers.has(provider.slug) ? [] : (toReachable(provider, env) ?? []),
  )
  const reachable = new Map([...providers, ...keyless.map((provider) => [provider.slug, provider] as const)])
  const configuration = { providers, reachable, custom }
  remembered.set(env, configuration)
  return configuration
}

/** The embedded provider, with one base URL per API format. */
const embedded: readonly Provider[] = [
  { ...embeddedAt("/v1"), slug: "embedded", name: "Embedded" },
  { ...embeddedAt("/responses/v1"), slug: "embedded-responses", name: "Embedded (Responses)", responses: true },
  { ...embeddedAt("/messages/v1"), slug: "embedded-messages", name: "Embedded (Messages)", format: "anthropic" },
]

function embeddedAt(path: string) {
  return {
    baseUrl: `https://embedded.invalid${path}`,
    format: "openai" as const,
    keyHeader: "authorization",
    embedded: true as const,
    // It runs in the gateway itself.
    regions: ["any"],
    quirks: { takesDeveloper: true as const },
  }
}

function toConfigured(provider: BuiltInProvider, env: Env): Provider | undefined {
  const keyText = keysOf(provider, env)
  const apiKeys = provider.cloud ? cloudKeys(provider, env, keyText) : keyText
  const baseUrl = ownBaseUrl(provider, env)
  if (apiKeys.length === 0 && !(provider.keyless && baseUrl !== undefined)) return undefined
  const reachable = toReachable(provider, env)
  // A BYOK credential may contain the region, but the key of a variable does not.
  if (!reachable || reachable.baseUrl.includes("*")) {
    const names = [baseUrlVariable(provider), ...provider.addresses.flatMap(([variables]) => variables)]
    const rule = `The key of ${provider.name} is set; its address must be set with it: ${names.join(" or ")}.`
    throw new GatewayError("misconfigured", rule)
  }
  return { ...reachable, ...toKeys(apiKeys) }
}

/** Keys separated by commas or white space, which no vendor's key contains. */
function keysOf({ secret, aliases }: BuiltInProvider, env: Env): string[] {
  const keyText = [secret, ...aliases].map((name) => credential(env, name)).find((one) => one !== undefined)
  return (keyText ?? "").split(/[\s,]+/).filter((key) => key !== "")
}

/** The provider without a key; undefined if its URL is unknown. */
function toReachable(provider: BuiltInProvider, env: Env): Provider | undefined {
  const override = ownBaseUrl(provider, env)
  const inCloud = provider.cloud && cloudFields(provider, env, override)
  const baseUrl = inCloud?.baseUrl ?? override ?? provider.baseUrl
  if (baseUrl === null) return undefined
  const { slug, name, quirks, format, keyHeader, batches } = provider
  const regions = regionsOf(env)[slug]
  return {
    slug,
    name,
    baseUrl,
    format,
    keyHeader,
    quirks: isVendorsHost(override) ? quirks : withoutResponses(quirks),
    ...(batches && { batches }),
    ...inCloud,
    ...(provider.responses && { responses: true as const }),
    ...(provider.completions && { completions: provider.completions }),
    ...(regions && { regions }),
  }
}

/** Servers of OpenAI's models; another server with its base URL may have only the chat format. */
function isVendorsHost(baseUrl: string | undefined): boolean {
  return baseUrl === undefined || /(?:^|\.)(?:openai\.com|azure\.com)$/.test(new URL(baseUrl).hostname)
}

function withoutResponses(quirks: Quirks): Quirks {
  const { needsResponses: _, ...others } = quirks
  return others
}

function baseUrlVariable({ secret }: BuiltInProvider): `${string}_BASE_URL` {
  return `${secret.slice(0, -"_API_KEY".length)}_BASE_URL`
}

function ownBaseUrl(provider: BuiltInProvider, env: Env): string | undefined {
  const name = baseUrlVariable(provider)
  const override = credential(env, name) ?? addressOf(provider, env)
  if (override === undefined) return undefined
  const parsed = BaseUrl.safeParse(override)
  if (!parsed.success) throw new GatewayError("misconfigured", `${name}: ${BASE_URL_RULE}.`)
  return forFormat(parsed.data, provider.format)
}

function addressOf({ addresses }: BuiltInProvider, env: Env): string | undefined {
  for (const [names, template] of addresses) {
    const value = names.map((name) => credential(env, name)).find((one) => one !== undefined)
    if (value !== undefined) return template.replace("*", value.replace(/\/+$/, ""))
  }
  return undefined
}

const REGIONS_RULE =
  'PROVIDER_REGIONS: must be a JSON object of provider slugs and their regions, {"mistral":["europe"]}'
const ProviderRegions = z.record(z.string(), z.array(z.string().min(1)))

/** Regions of built-in providers as configured by the operator, by base URL or contract. */
function regionsOf(env: Env): Record<string, readonly string[]> {
  const json = configOf(env).PROVIDER_REGIONS
  const parsed = ProviderRegions.safeParse(parseJson(json))
  if (!parsed.success) throw new GatewayError("misconfigured", `${REGIONS_RULE}.`)
  return parsed.data
}

/** Configured servers win over servers that were found on a local port. */
function readCustomProviders(env: Env): CustomProvider[] {
  const definitions = read(env, "CUSTOM_PROVIDERS")
  const takenSlugs = new Set(definitions.map(({ slug }) => slug))
  return [...definitions, ...read(env, "LOCAL_PROVIDERS").filter(({ slug }) => !takenSlugs.has(slug))]
}

function read(env: Env, name: "CUSTOM_PROVIDERS" | "LOCAL_PROVIDERS"): readonly CustomProvider[] {
  return parseCustomProviders(name, configOf(env)[name])
}
