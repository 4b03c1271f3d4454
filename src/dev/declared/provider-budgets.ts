import * as z from "zod"
import { type ProviderBudget, ProviderBudgetChange } from "../../budgets/provider-schemas.ts"
import type { Json } from "../../support/text/json.ts"
import type { Api } from "../api.ts"
import { type Change, type LiveResource, normalizeFields, type Resource } from "./resource.ts"

/** Limits of the organization's spend at providers. */

export const ProviderBudgets = z.record(
  z.string(),
  z.strictObject({
    lifetime: ProviderBudgetChange.optional(),
    monthly: ProviderBudgetChange.optional(),
    weekly: ProviderBudgetChange.optional(),
    daily: ProviderBudgetChange.optional(),
  }),
)

export function providerBudgetsOf(declared: z.infer<typeof ProviderBudgets>): Resource[] {
  return Object.entries(declared).flatMap(([provider, budgets]) =>
    Object.entries(budgets).flatMap(([interval, fields]) =>
      fields ? [toResource(`${provider} ${interval}`, fields)] : [],
    ),
  )
}

export async function liveProviderBudgets(api: Api): Promise<LiveResource[]> {
  const { data } = await api.as<{ data: ProviderBudget[] }>("manager", "GET", "/provider-budgets")
  return data.map((fields) => {
    const name = `${fields.provider} ${fields.reset_interval ?? "lifetime"}`
    return { ...toResource(name, fields), id: name, isProtected: false }
  })
}

export function writeProviderBudget(api: Api, { action, name, declared }: Change): Promise<unknown> {
  const path = `/provider-budgets/${name.replace(" ", "/")}`
  return action === "remove" ? api.as("manager", "DELETE", path) : api.as("manager", "PUT", path, declared)
}

function toResource(name: string, fields: Json): Resource {
  return { kind: "provider_budget", workspace: "", name, fields: normalizeFields(fields) }
}
