import * as z from "zod"
import { explain } from "../../http/schema.ts"
import { maskUrl } from "../../outbound/masked-url.ts"
import { isObject, type Json } from "../../support/text/json.ts"
import { Failure } from "../failure.ts"
import { addressOf, normalizeFields, type Resource } from "./resource.ts"

const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g
export type Environment = Readonly<Record<string, string | undefined>>

type Configured = {
  identity: Pick<Resource, "kind" | "workspace" | "name">
  declared: Json & { config: Json }
  schema: z.ZodType
  isSecret: (field: string) => boolean
  /** Fields whose URLs are compared without the credentials in them. */
  urls: readonly string[]
  /** Masks secrets as the gateway does. */
  mask: (secrets: Json) => Json
}

/** Flattens `config` to fields such as `config.url`; secrets are compared by their mask. */
export function toConfigured(
  { identity, declared, schema, isSecret, urls, mask }: Configured,
  env: Environment,
): Resource {
  const { config, ...rest } = declared
  const address = addressOf(identity)
  for (const [field, value] of Object.entries(config)) {
    if (isSecret(field)) requireReference(`${address}.config.${field}`, value)
  }
  const parsed = z.object({ config: schema }).safeParse({ config: resolveReferences(`${address}.config`, config, env) })
  if (!parsed.success) throw new Failure(`${address}.${explain(parsed.error)}`)
  const { config: read } = parsed.data
  const configured = Object.entries(isObject(read) ? read : {}).filter(([field]) => field in config)
  const secrets = configured.filter(([field]) => isSecret(field))
  const open = configured.filter(([field]) => !isSecret(field))
  const maskedUrls = open.flatMap(([field, value]) =>
    urls.includes(field) && typeof value === "string" && maskUrl(value) !== value ? [[field, value] as const] : [],
  )
  return {
    ...identity,
    fields: normalizeFields({
      ...rest,
      ...prefixNames(Object.fromEntries(open)),
      ...prefixNames(Object.fromEntries(maskedUrls.map(([field, url]) => [field, maskUrl(url)]))),
      ...prefixNames(mask(Object.fromEntries(secrets))),
    }),
    secrets: prefixNames(Object.fromEntries([...secrets, ...maskedUrls])),
  }
}

/** Flattens a response of the gateway. */
export function toConfiguredFields({ config, ...fields }: Json): Json {
  return { ...fields, ...(isObject(config) && prefixNames(config)) }
}

/** The body that sets these fields, with the secrets. */
export function toBody(fields: Json, secrets: Json): Json {
  const entries = Object.entries(fields).map(([name, value]) => [name, secrets[name] ?? value] as const)
  const isConfig = ([name]: readonly [string, unknown]) => name.startsWith("config.")
  const config = entries.filter(isConfig).map(([name, value]) => [name.slice("config.".length), value] as const)
  const others = Object.fromEntries(entries.filter((entry) => !isConfig(entry)))
  return config.length > 0 ? { ...others, config: Object.fromEntries(config) } : others
}

function prefixNames(config: Json): Json {
  return Object.fromEntries(Object.entries(config).map(([name, value]) => [`config.${name}`, value]))
}

export function requireReference(path: string, value: unknown): void {
  if (isObject(value)) {
    for (const [name, inner] of Object.entries(value)) requireReference(`${path}.${name}`, inner)
  } else if (typeof value !== "string" || value.search(REFERENCE) === -1) {
    throw new Failure(`${path}: must refer to an environment variable, such as \${NAME}. Secrets are not in the file.`)
  }
}

export function resolveReferences(path: string, value: unknown, env: Environment): unknown {
  if (isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, resolveReferences(`${path}.${name}`, inner, env)]),
    )
  }
  if (typeof value !== "string") return value
  return value.replaceAll(REFERENCE, (_, name: string) => {
    const found = env[name]
    if (found) return found
    throw new Failure(`${path}: set ${name} in the environment.`)
  })
}
