import { CHANNEL_SECRETS, CONFIGS, MASK } from "../../alerts/schemas.ts"
import type { ChannelType } from "../../alerts/alert.ts"
import { toMask } from "../../byok/credential.ts"
import { isSecret, type KindName, KINDS } from "../../observability/kinds.ts"
import { maskValues } from "../../support/text/mask.ts"
import { maskUrl } from "../../outbound/masked-url.ts"
import { isObject, type Json } from "../../support/text/json.ts"
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
    const { config: schema, urls } = KINDS[type]
    const rules = { schema, urls, isSecret: (field: string) => isSecret(type, field), mask: maskValues }
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
      urls: ["url", "base_url"],
      isSecret: (field: string) => CHANNEL_SECRETS[type].includes(field),
      mask: (secrets: Json) => Object.fromEntries(Object.keys(secrets).map((field) => [field, MASK])),
    }
    return toConfigured({ identity, declared, ...rules }, env)
  })
}

/** The key is compared by its mask, which the gateway returns as `label`. */
export function byokOf([workspace, entries]: Section<Json & { key: string }>, env: Environment): Resource[] {
  return Object.entries(entries).map(([name, { key, ...rest }]) => {
    const identity = { kind: "byok" as const, workspace, name }
    const path = `${addressOf(identity)}.key`
    requireReference(path, key)
    const resolved = String(resolveReferences(path, key, env))
    return { ...identity, fields: normalizeFields({ ...rest, label: toMask(resolved) }), secrets: { label: resolved } }
  })
}

/** Rules in the form in which the gateway returns them. */
export function passthroughServicesOf(
  [workspace, entries]: Section<Json & { rules: readonly Json[]; base_url: string }>,
  env: Environment,
): Resource[] {
  return Object.entries(entries).map(([name, { headers, query, base_url: baseUrl, ...rest }]) => {
    const identity = { kind: "passthrough_service" as const, workspace, name }
    const url = baseUrl.replace(/\/+$/, "")
    const fields: Json = { ...rest, base_url: maskUrl(url) }
    const secrets: Json = { base_url: url }
    for (const [field, values] of Object.entries({ headers, query })) {
      if (values === undefined) continue
      const path = `${addressOf(identity)}.${field}`
      requireReference(path, values)
      const resolved = resolveReferences(path, values ?? {}, env)
      if (!isObject(resolved)) continue
      secrets[field] = resolved
      fields[field] = maskValues(resolved)
    }
    return { ...identity, fields: normalizeFields(fields), secrets }
  })
}

export function mcpServersOf([workspace, entries]: Section<Json>, env: Environment): Resource[] {
  return Object.entries(entries).map(([name, declared]) => {
    const identity = { kind: "mcp_server" as const, workspace, name }
    const { headers, ...others } = declared
    const { url } = others
    const rest = { ...others, ...(typeof url === "string" && { url: maskUrl(url) }) }
    if (!isObject(headers)) return { ...identity, fields: normalizeFields({ ...rest, headers }), secrets: { url } }
    const path = `${addressOf(identity)}.headers`
    requireReference(path, headers)
    const resolved = resolveReferences(path, headers, env) as Json
    return {
      ...identity,
      fields: normalizeFields({ ...rest, headers: maskValues(resolved) }),
      secrets: { headers: resolved, url },
    }
  })
}
