import { GatewayError } from "../../errors/errors.ts"
import { isConfinedToRegions } from "../../guardrails/applied.ts"
import { openSecrets } from "../../passthrough/open-secrets.ts"
import { noSuchService } from "../../passthrough/routes.ts"
import { mayCall, ruleFor, type ServiceSecrets } from "../../passthrough/service.ts"
import { findService } from "../../passthrough/store.ts"
import type { ServiceRow, ServiceRule } from "../../passthrough/table.ts"
import { plainEndpoint } from "../../models/plain-endpoint.ts"
import type { Provider } from "../../providers/provider.ts"
import type { IncomingCall } from "../context.ts"

export type Service = { row: ServiceRow; secrets: ServiceSecrets }

/** Throws 403 and 404 for a service that the key may not call. */
export async function findCallableService({ caller, env }: IncomingCall, slug: string): Promise<Service> {
  const found = await findService(env.DB, caller, slug)
  if (!found?.row.enabled) throw noSuchService(slug)
  const { row } = found
  if (!mayCall(row, caller)) {
    const rule = `This key may not call the service ${slug}: a management key sets its allowed_api_key_hashes.`
    throw new GatewayError("forbidden", rule, { metadata: { reason: "passthrough_denied" } })
  }
  if (isConfinedToRegions(caller.guardrails)) {
    const rule = "Services belong to no region: a guardrail confines this key to regional hostnames."
    throw new GatewayError("forbidden", rule, { metadata: { reason: "passthrough_denied" } })
  }
  requireGuardrails(row, caller.guardrails?.routeFilters() ?? [])
  const secrets = await openSecrets(found, env)
  if (secrets) return { row, secrets }
  throw new GatewayError("internal", `The secrets of the service ${slug} cannot be decrypted. Send them again.`)
}

type Filters = ReturnType<NonNullable<IncomingCall["caller"]["guardrails"]>["routeFilters"]>

/** Guardrails treat a service as a provider with its slug and a model `passthrough/{slug}` without other attributes. */
function requireGuardrails({ slug, name, baseUrl }: ServiceRow, filters: Filters): void {
  const provider: Provider = { slug, name, baseUrl, format: "openai", keyHeader: "authorization", quirks: {} }
  const endpoint = plainEndpoint(slug, serviceModel(slug), true)
  const rejecting = filters.filter((filter) => !filter.keeps(endpoint, provider, null))
  if (rejecting.length === 0) return
  const rejectedBy = rejecting.flatMap(({ rule }) => rule ?? [])
  const text = rejecting.map((filter) => filter.name).join("; ")
  throw new GatewayError("forbidden", `A guardrail rejects the service ${slug}: ${text}.`, {
    metadata: { reason: "guardrail", patterns: [...new Set(rejectedBy.map(({ field }) => field))] },
    rejectedBy,
  })
}

export function serviceModel(slug: string): string {
  return `passthrough/${slug}`
}

/** Throws 403 for a request that no rule forwards. */
export function requireRule({ row }: Service, method: string, path: string): ServiceRule {
  const rule = ruleFor(row, method, path)
  if (rule) return rule
  const allowed = row.rules.map(({ methods, path: pattern }) => `${methods?.join(", ") ?? "any method"} ${pattern}`)
  const message = `The service ${row.slug} forwards no ${method} ${path.slice(0, 200)}. It forwards ${allowed.slice(0, 20).join("; ")}.`
  throw new GatewayError("forbidden", message, { metadata: { reason: "passthrough_path_denied" } })
}
