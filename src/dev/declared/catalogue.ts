import * as z from "zod"
import { PriceListOrNull } from "../../money/price-list.ts"
import { isObject, type Json, objectsOf } from "../../support/text/json.ts"
import type { Api } from "../api.ts"
import { Failure } from "../failure.ts"
import { addressOf, type Change, type LiveResource, normalizeFields, type Resource } from "./resource.ts"

/** Declarations of the operator for all organizations: prices of endpoints, and stopped providers. */

export const Prices = z.record(z.string(), z.record(z.string(), PriceListOrNull.unwrap()))
export const Providers = z.record(
  z.string(),
  z.strictObject({ disabled: z.boolean({ error: "must be true or false" }) }),
)

export function pricesOf(prices: z.infer<typeof Prices>): Resource[] {
  return Object.entries(prices).flatMap(([model, offers]) =>
    Object.entries(offers).map(([provider, pricing]) => ({
      kind: "price" as const,
      workspace: "",
      name: `${model} ${provider}`,
      fields: normalizeFields({ pricing }),
    })),
  )
}

export function providersOf(providers: z.infer<typeof Providers>): Resource[] {
  return Object.entries(providers).map(([name, fields]) => ({
    kind: "provider" as const,
    workspace: "",
    name,
    fields: normalizeFields(fields),
  }))
}

type Stored = { rows: readonly Json[]; disabledProviders: readonly string[] }

/** Prices set by the operator. Prices of the catalogue itself are not part of a file. */
export function livePrices({ rows }: Stored): LiveResource[] {
  return rows.flatMap((row) =>
    objectsOf(row["endpoints"]).flatMap(({ provider, price_override: pricing }) =>
      isObject(pricing) ? [toLive("price", `${String(row["id"])} ${String(provider)}`, { pricing })] : [],
    ),
  )
}

/** Rejects prices of endpoints that the catalogue does not have. */
export function rejectUnknownEndpoints({ rows }: Stored, declared: readonly Resource[]): void {
  for (const resource of declared.filter(({ kind }) => kind === "price")) {
    const [model, provider] = resource.name.split(" ")
    const found = rows.find(({ id }) => id === model)
    const providers = objectsOf(found?.["endpoints"]).map((endpoint) => String(endpoint["provider"]))
    if (provider !== undefined && providers.includes(provider)) continue
    const reason = found ? `It has ${model} at ${providers.join(", ")}.` : `It has no ${model}.`
    throw new Failure(`${addressOf(resource)}: the catalogue has no such endpoint. ${reason}`)
  }
}

/** Stopped providers, and declared ones that are not stopped. */
export function liveProviders({ disabledProviders }: Stored, declared: readonly Resource[]): LiveResource[] {
  const running = declared.filter(({ kind, name }) => kind === "provider" && !disabledProviders.includes(name))
  return [
    ...disabledProviders.map((name) => toLive("provider", name, { disabled: true })),
    ...running.map(({ name }) => ({ ...toLive("provider", name, { disabled: false }), isProtected: true })),
  ]
}

function toLive(kind: "price" | "provider", name: string, fields: Json): LiveResource {
  return { kind, workspace: "", name, id: name, isProtected: false, fields: normalizeFields(fields) }
}

export function writePrice(api: Api, { action, name, declared }: Change): Promise<unknown> {
  const [model, provider] = name.split(" ")
  const pricing = action === "remove" ? null : declared["pricing"]
  return api.as("operator", "PATCH", "/catalogue/endpoints", { model, provider, pricing })
}

export function writeProvider(api: Api, { action, name, declared }: Change): Promise<unknown> {
  const disabled = action === "remove" ? false : declared["disabled"]
  return api.as("operator", "PATCH", "/catalogue/providers", { provider: name, disabled })
}
