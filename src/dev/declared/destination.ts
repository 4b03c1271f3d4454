import * as z from "zod"
import { explain } from "../../http/schema.ts"
import { isSecret, type KindName, KINDS } from "../../observability/kinds.ts"
import { masked } from "../../observability/mask.ts"
import { isObject, type Json } from "../../support/json.ts"
import { Failure } from "../api.ts"
import { addressOf, normalizeFields, type Resource } from "./resource.ts"

const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g
type Declared = Json & { type: KindName; config: Json }
type Environment = Readonly<Record<string, string | undefined>>

/** Fields of `config` become fields of their own, `config.url`; secrets are compared by their mask. */
export function toDestination(workspace: string, name: string, declared: Declared, env: Environment): Resource {
  const { type, config, ...rest } = declared
  const identity = { kind: "destination" as const, workspace, name }
  const address = addressOf(identity)
  for (const [field, value] of Object.entries(config)) {
    if (isSecret(type, field)) requireReference(`${address}.config.${field}`, value)
  }
  const parsed = z
    .object({ config: KINDS[type].config })
    .safeParse({ config: resolve(`${address}.config`, config, env) })
  if (!parsed.success) throw new Failure(`${address}.${explain(parsed.error)}`)
  const given = Object.entries(parsed.data.config).filter(([field]) => field in config)
  const secrets = given.filter(([field]) => isSecret(type, field))
  const open = given.filter(([field]) => !isSecret(type, field))
  return {
    ...identity,
    fields: normalizeFields({
      type,
      ...rest,
      ...prefixed(Object.fromEntries(open)),
      ...prefixed(masked(Object.fromEntries(secrets))),
    }),
    secrets: prefixed(Object.fromEntries(secrets)),
  }
}

/** As the gateway answers it. */
export function toDestinationFields({ config, ...fields }: Json): Json {
  return { ...fields, ...(isObject(config) && prefixed(config)) }
}

/** The body that sets these fields, with the secrets themselves. */
export function toDestinationBody(fields: Json, secrets: Json): Json {
  const entries = Object.entries(fields).map(([name, value]) => [name, secrets[name] ?? value] as const)
  const isConfig = ([name]: readonly [string, unknown]) => name.startsWith("config.")
  const config = entries.filter(isConfig).map(([name, value]) => [name.slice("config.".length), value] as const)
  const others = Object.fromEntries(entries.filter((entry) => !isConfig(entry)))
  return config.length > 0 ? { ...others, config: Object.fromEntries(config) } : others
}

function prefixed(config: Json): Json {
  return Object.fromEntries(Object.entries(config).map(([name, value]) => [`config.${name}`, value]))
}

function requireReference(path: string, value: unknown): void {
  if (isObject(value)) {
    for (const [name, inner] of Object.entries(value)) requireReference(`${path}.${name}`, inner)
  } else if (typeof value !== "string" || value.search(REFERENCE) === -1) {
    throw new Failure(`${path}: must refer to an environment variable, such as \${NAME}. Secrets are not in the file.`)
  }
}

function resolve(path: string, value: unknown, env: Environment): unknown {
  if (isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, resolve(`${path}.${name}`, inner, env)]),
    )
  }
  if (typeof value !== "string") return value
  return value.replaceAll(REFERENCE, (_, name: string) => {
    const found = env[name]
    if (found) return found
    throw new Failure(`${path}: set ${name} in the environment.`)
  })
}
