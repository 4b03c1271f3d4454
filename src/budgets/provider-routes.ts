import { createRoute } from "@hono/zod-openapi"
import { invalidateOrganization } from "../access/key-cache.ts"
import { requireManagement } from "../access/guards.ts"
import { entryOf } from "../audit/actor.ts"
import { changesOf } from "../audit/entry.ts"
import type { Env } from "../config/env.ts"
import { GatewayError } from "../errors/errors.ts"
import { acceptJson, newRouter } from "../http/router.ts"
import { failures, jsonBody, ok } from "../http/schema.ts"
import { openLedger } from "../ledger/client.ts"
import { usdToNano } from "../money/money.ts"
import { reachableProviders } from "../providers/configured.ts"
import { requireAscendingLimits } from "./budget.ts"
import { toProviderBudget, toProviderLimit } from "./provider-budget.ts"
import * as schemas from "./provider-schemas.ts"
import { deleteProviderBudget, listProviderBudgets, putProviderBudget } from "./provider-store.ts"
import type { ProviderBudgetRow } from "./table.ts"

const PATH = "/provider-budgets"
const FAILURES = failures("invalid_request", "unauthenticated", "forbidden", "internal")
const shared = { tags: ["Organization"], middleware: [requireManagement] satisfies [typeof requireManagement] }

const list = createRoute({
  ...shared,
  method: "get",
  path: PATH,
  operationId: "listProviderBudgets",
  summary: "List the budgets of providers",
  description: "With the spent and held amounts of the current window.",
  responses: {
    200: ok(schemas.ProviderBudgetList, "By provider, the longest window first."),
    ...failures("unauthenticated", "forbidden", "internal"),
  },
})

const put = createRoute({
  ...shared,
  method: "put",
  path: `${PATH}/{provider}/{interval}`,
  operationId: "setProviderBudget",
  summary: "Set a budget of a provider",
  description:
    "Limits all calls of the organization at the provider. It applies from the next call on and includes earlier spend in its window. Calls that exceed it go to other providers.",
  middleware: [requireManagement, acceptJson(65_536)] as const,
  request: { params: schemas.ProviderBudgetPath, body: jsonBody(schemas.ProviderBudgetChange) },
  responses: {
    200: ok(schemas.ProviderBudgetResponse, "The budget."),
    ...FAILURES,
    ...failures("not_found", "conflict"),
  },
})

const remove = createRoute({
  ...shared,
  method: "delete",
  path: `${PATH}/{provider}/{interval}`,
  operationId: "deleteProviderBudget",
  summary: "Delete a budget of a provider",
  request: { params: schemas.ProviderBudgetPath },
  responses: { 200: ok(schemas.ProviderBudgetDeleted, "Deleted, or did not exist."), ...FAILURES },
})

export const providerBudgetRoutes = newRouter()
  .openapi(list, async (c) => {
    const { organizationId } = c.var.principal
    return c.json({ data: await withUse(c.env, await listProviderBudgets(c.env.DB, organizationId)) }, 200)
  })
  .openapi(put, async (c) => {
    const { provider, interval } = c.req.valid("param")
    const input = c.req.valid("json")
    const { organizationId } = c.var.principal
    requireProvider(c.env, provider)
    const found = await budgetsAt(c.env.DB, organizationId, provider)
    const limitNano = usdToNano(input.limit_usd)
    requireAscendingLimits(interval, limitNano, found)
    const now = Date.now()
    const budget = found.find((budget) => budget.interval === interval)
    const includeByok = input.include_byok ?? budget?.includeByok ?? false
    const createdAt = budget?.createdAt ?? now
    const row = { organizationId, provider, interval, limitNano, includeByok, createdAt, updatedAt: now }
    const changed = changesOf(input, ["limit_usd", "include_byok"])
    const resourceId = `${provider}/${interval}`
    const entry = entryOf(c, { action: "provider_budget.set", resourceId, workspaceId: null, changed })
    if (!(await putProviderBudget(c.env.DB, row, entry))) {
      // A concurrent change set another budget: report which rule is violated.
      requireAscendingLimits(interval, limitNano, await budgetsAt(c.env.DB, organizationId, provider))
      throw new GatewayError("conflict", "Another budget of the provider was changed concurrently. Retry.")
    }
    invalidateOrganization(organizationId)
    const [, standing] = await openLedger(c.env, organizationId).limitStatuses([toProviderLimit(row)])
    return c.json({ data: toProviderBudget(row, standing, now) }, 200)
  })
  .openapi(remove, async (c) => {
    const { provider, interval } = c.req.valid("param")
    const { organizationId } = c.var.principal
    const resourceId = `${provider}/${interval}`
    const entry = entryOf(c, { action: "provider_budget.delete", resourceId, workspaceId: null })
    await deleteProviderBudget(c.env.DB, { organizationId, provider, interval }, entry)
    invalidateOrganization(organizationId)
    return c.json({ deleted: true as const }, 200)
  })

async function budgetsAt(db: D1Database, organizationId: string, provider: string): Promise<ProviderBudgetRow[]> {
  return (await listProviderBudgets(db, organizationId)).filter((row) => row.provider === provider)
}

function requireProvider(env: Env, provider: string): void {
  const providers = reachableProviders(env)
  if (providers.has(provider)) return
  const slugs = [...providers.keys()].toSorted().join(", ")
  throw new GatewayError("not_found", `There is no provider ${provider}. This gateway reaches ${slugs}.`)
}

/** Adds what the ledger counts for each. */
async function withUse(env: Env, rows: readonly ProviderBudgetRow[]): Promise<schemas.ProviderBudget[]> {
  const [first] = rows
  if (!first) return []
  // The first of the standings is the balance.
  const [, ...limitStatuses] = await openLedger(env, first.organizationId).limitStatuses(rows.map(toProviderLimit))
  const now = Date.now()
  return rows.map((row, at) => toProviderBudget(row, limitStatuses[at], now))
}
