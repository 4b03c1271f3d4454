import { createRoute } from "@hono/zod-openapi"
import * as z from "zod"
import { allowedRegions } from "../guardrails/applied.ts"
import { newRouter } from "../http/router.ts"
import { failures, ok } from "../http/schema.ts"
import { counterHashOf, limitFields, limitsOfKey, usageFields } from "../keys/key.ts"
import { CurrentKey } from "../keys/schemas.ts"
import { openLedger } from "../ledger/client.ts"
import { freeLimits } from "../ledger/free-requests.ts"
import { type Counters, newCounters, remaining } from "../ledger/limits.ts"
import { toRateFields } from "../ledger/rate-schemas.ts"
import { NO_RATES } from "../money/rate-limits.ts"
import { nanoToUsd } from "../money/money.ts"
import { toTimestamp } from "../support/time/time.ts"
import { findWorkspace } from "../workspaces/store.ts"
import { type Caller, callerOf } from "../policy/call-policy.ts"
import { keyBudgets } from "./key-budgets.ts"

const current = createRoute({
  method: "get",
  path: "/key",
  operationId: "getCurrentKey",
  tags: ["API keys"],
  summary: "Get the current key",
  description: "Returns its limits and usage.",
  responses: { 200: ok(z.object({ data: CurrentKey })), ...failures("unauthenticated", "internal") },
})

export const currentKey = newRouter().openapi(current, async (c) => {
  const caller = callerOf(c.var.principal)
  const limits = freeLimits(c.env)
  const ledger = caller.organizationId ? openLedger(c.env, caller.organizationId) : undefined
  const hashes = [caller, ...caller.ancestors].map(counterHashOf)
  const [usage = [], freeToday, workspace, budgets] = await Promise.all([
    ledger?.usage(hashes),
    ledger?.freeToday(limits),
    findWorkspace(c.env.DB, caller.organizationId, caller.workspaceId),
    keyBudgets(c.env.DB, ledger, caller),
  ])
  const free = freeToday ?? { limit: limits.perDay, used: 0 }
  // A management key outlives its workspace.
  return c.json(
    { data: { ...toCurrentKey(caller, usage, free), ...budgets, workspace_id: workspace?.id ?? null } },
    200,
  )
})

/**
 * `counters`: of the key, then of its ancestors. The remaining amount is the lowest rest of all their limits. `free`:
 * requests of the account on free models today.
 */
function toCurrentKey(
  caller: Caller,
  [self, ...above]: readonly Counters[],
  free: { limit: number; used: number },
): Omit<z.infer<typeof CurrentKey>, "workspace_id" | "budgets" | "effective_budget"> {
  const counters = self ?? newCounters(Date.now())
  const remainders = [caller, ...caller.ancestors].flatMap((key, at) => {
    const used = at === 0 ? counters : above[at - 1]
    return used ? limitsOfKey(key).map((limit) => remaining(limit, used)) : []
  })
  return {
    label: caller.label,
    ...limitFields(caller, counters),
    limit_remaining: remainders.length === 0 ? null : nanoToUsd(Math.max(0, Math.min(...remainders))),
    include_byok_in_limit: caller.includeByokInLimit,
    ...toRateFields(caller.rates ?? NO_RATES),
    ...usageFields(counters),
    creator_user_id: caller.creatorUserId,
    organization_id: caller.organizationId || null,
    expires_at: caller.expiresAt === null ? null : toTimestamp(caller.expiresAt),
    is_free_tier: caller.kind === "free_tier",
    is_management_key: caller.kind === "management",
    is_provisioning_key: caller.kind === "management" || caller.kind === "provisioning",
    allowed_data_regions: allowedRegions(caller.guardrails?.list ?? []),
    free_model_daily_requests: { ...free, remaining: Math.max(0, free.limit - free.used) },
    rate_limit: { interval: "10s", requests: -1, note: "This field is deprecated and safe to ignore." },
  }
}
