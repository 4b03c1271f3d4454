import { CHANNEL_SECRETS, CONFIGS, MASK } from "../../alerts/schemas.ts"
import type { ChannelType } from "../../alerts/alert.ts"
import { isSecret, type KindName, KINDS } from "../../observability/kinds.ts"
import { masked } from "../../observability/mask.ts"
import { isObject, type Json } from "../../support/json.ts"
import { addressOf, normalizeFields, type Resource } from "./resource.ts"
import { type Environment, requireReference, resolveReferences, toConfigured } from "./secrets.ts"

/** Declared resources with secrets, which the gateway stores sealed and shows masked. */

type Section<T> = readonly [workspace: string, entries: Readonly<Record<string, T>>]

export function destinationsOf(
  [workspace, entries]: Section<Json & { type: KindName; config: Json }>,
  env: Environment,
): Resource[] {
  return Object.entries(entries).map(([name, declared]) => {
    const { type } = declared
    const identity = { kind: "destination" as const, workspace, name }
    const rules = { schema: KINDS[type].config, isSecret: (field: string) => isSecret(type, field), mask: masked }
    return toConfigured({ identity, declared, ...rules }, env)
  })
}

export function alertChannelsOf(
  [workspace, entries]: Section<Json & { type: ChannelType; config: Json }>,
  env: Environment,
): Resource[] {
  return Object.entries(entries).map(([name, declared]) => {
    const { type } = declared
    const identity = { kind: "alert_channel" as const, workspace, name }
    const rules = {
      schema: CONFIGS[type],
      isSecret: (field: string) => CHANNEL_SECRETS[type].includes(field),
      mask: (secrets: Json) => Object.fromEntries(Object.keys(secrets).map((field) => [field, MASK])),
    }
    return toConfigured({ identity, declared, ...rules }, env)
  })
}

export function mcpServersOf([workspace, entries]: Section<Json>, env: Environment): Resource[] {
  return Object.entries(entries).map(([name, declared]) => {
    const identity = { kind: "mcp_server" as const, workspace, name }
    const { headers, ...rest } = declared
    if (!isObject(headers)) return { ...identity, fields: normalizeFields(declared) }
    const path = `${addressOf(identity)}.headers`
    requireReference(path, headers)
    const resolved = resolveReferences(path, headers, env) as Json
    return {
      ...identity,
      fields: normalizeFields({ ...rest, headers: masked(resolved) }),
      secrets: { headers: resolved },
    }
  })
}
