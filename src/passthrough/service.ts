import type * as z from "zod"
import { isConfined, type Principal } from "../access/principal.ts"
import { GatewayError } from "../errors/errors.ts"
import { nanoToUsd, usdToNano } from "../money/money.ts"
import { maskUrl } from "../outbound/masked-url.ts"
import { isMask, toMask } from "../support/text/mask.ts"
import type { AssociatedData } from "../secrets/seal.ts"
import { toTimestamp } from "../support/time/time.ts"
import { caseSensitiveMatcher } from "../support/text/wildcard.ts"
import { METHODS, type Service, type ServiceFields } from "./schemas.ts"
import type { ServiceRow, ServiceRule } from "./table.ts"

type Values = Readonly<Record<string, string>>
/** Headers and query parameters that the gateway adds to every request. */
export type ServiceSecrets = { headers: Values; query: Values }

/** Authenticated context of the sealed secrets. */
export function secretsAad(row: Pick<ServiceRow, "id" | "workspaceId" | "version">): AssociatedData {
  const { id, workspaceId, version } = row
  return { kind: "passthrough-service", ownerId: id, workspaceId, name: "secrets", version }
}

/** The secrets after a change: a mask that was returned keeps its value, what is left out stays. */
export function mergeSecrets(before: ServiceSecrets, { headers, query }: ServiceFields): ServiceSecrets {
  return {
    headers: headers === undefined ? before.headers : mergeValues("headers", before.headers, headers ?? {}),
    query: query === undefined ? before.query : mergeValues("query", before.query, query ?? {}),
  }
}

function mergeValues(field: string, before: Values, sent: Values): Values {
  return Object.fromEntries(
    Object.entries(sent).map(([name, value]) => {
      if (!isMask(value)) return [name, value]
      const previous = before[name]
      if (previous !== undefined) return [name, previous]
      throw new GatewayError("invalid_request", `${field}.${name}: is masked. Send the value itself.`)
    }),
  )
}

type Columns = Partial<Pick<ServiceRow, "name" | "baseUrl" | "rules" | "allowedKeyHashes" | "timeoutMs" | "enabled">>

/** The columns that a body sets; the secrets are sealed apart. */
export function toColumns(input: ServiceFields): Columns {
  const { base_url: baseUrl, rules, allowed_api_key_hashes: hashes, timeout_seconds: seconds } = input
  return {
    ...(input.name !== undefined && { name: input.name }),
    ...(baseUrl !== undefined && { baseUrl: baseUrl.replace(/\/+$/, "") }),
    ...(rules && { rules: rules.map(toRule) }),
    ...(hashes !== undefined && { allowedKeyHashes: hashes }),
    ...(seconds !== undefined && { timeoutMs: seconds * 1_000 }),
    ...(input.enabled !== undefined && { enabled: input.enabled }),
  }
}

type RuleInput = NonNullable<ServiceFields["rules"]>[number]

export function toRule({ methods, path, price_usd: price }: RuleInput): ServiceRule {
  return { methods: methods ?? null, path, priceNano: usdToNano(price) }
}

/** Fields whose values the audit log records. A URL may contain a token. */
export const AUDITED_FIELDS = ["slug", "name", "rules", "allowed_api_key_hashes", "timeout_seconds", "enabled"]

/** The first rule for a request; undefined where none forwards it. */
export function ruleFor({ rules }: Pick<ServiceRow, "rules">, method: string, path: string): ServiceRule | undefined {
  return rules.find((rule) => (rule.methods?.includes(method) ?? true) && caseSensitiveMatcher([rule.path])(path))
}

/** Whether a key may call the service: by itself, or by the key that created it. */
export function mayCall(
  { allowedKeyHashes: hashes }: Pick<ServiceRow, "allowedKeyHashes">,
  principal: Pick<Principal, "source" | "kind" | "internId" | "keyHash" | "ancestors">,
): boolean {
  const { keyHash, ancestors } = principal
  // Keys of apps, interns and the free tier must be named.
  if (hashes === null) return !isConfined({ ...principal, externalUser: null })
  return [keyHash, ...ancestors.map((ancestor) => ancestor.keyHash)].some((hash) => hashes.includes(hash))
}

const masks = (values: Values) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, toMask(value)]))

export function toService(row: ServiceRow, { headers, query }: ServiceSecrets): z.infer<typeof Service> {
  return {
    id: row.id,
    workspace_id: row.workspaceId,
    slug: row.slug,
    name: row.name,
    base_url: maskUrl(row.baseUrl),
    headers: masks(headers),
    query: masks(query),
    rules: row.rules.map(({ methods, path, priceNano }) => ({
      methods: methods && METHODS.filter((method) => methods.includes(method)),
      path,
      price_usd: nanoToUsd(priceNano),
    })),
    allowed_api_key_hashes: row.allowedKeyHashes,
    timeout_seconds: row.timeoutMs / 1_000,
    enabled: row.enabled,
    created_at: toTimestamp(row.createdAt),
    updated_at: row.updatedAt === null ? null : toTimestamp(row.updatedAt),
  }
}
