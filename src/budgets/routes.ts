import { createRoute } from "@hono/zod-openapi"
import { invalidateWorkspace } from "../access/key-cache.ts"
import { entryOf } from "../audit/actor.ts"
import { requireManagement } from "../access/guards.ts"
import { changesOf } from "../audit/entry.ts"
import { usdToNano } from "../money/money.ts"
import { GatewayError } from "../errors/errors.ts"
import { acceptJson, newRouter } from "../http/router.ts"
import { failures, jsonBody, ok } from "../http/schema.ts"
import { newId } from "../support/ids.ts"
import type { Env } from "../config/env.ts"
import { openLedger } from "../ledger/client.ts"
import { budgetLimits, requireAscendingLimits, toBudget, withUse } from "./budget.ts"
import {
  BudgetResponse,
  BudgetChange,
  BudgetDeleted,
  BudgetList,
  BudgetPath,
  type BudgetWithUse,
  WorkspacePath,
} from "./schemas.ts"
import { type BudgetedWorkspace, deleteBudget, findBudgets, putBudget } from "./store.ts"

const PATH = "/workspaces/{workspaceRef}/budgets"
const FAILURES = failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal")
const shared = { tags: ["Workspaces"], middleware: [requireManagement] satisfies [typeof requireManagement] }

const list = createRoute({
  ...shared,
  method: "get",
  path: PATH,
  operationId: "listWorkspaceBudgets",
  summary: "List the budgets of a workspace",
  description: "With the spent and held amounts of the current window.",
  request: { params: WorkspacePath },
  responses: { 200: ok(BudgetList, "The budgets, the largest first."), ...FAILURES },
})

const get = createRoute({
  ...shared,
  method: "get",
  path: `${PATH}/{interval}`,
  operationId: "getWorkspaceBudget",
  summary: "Get a budget",
  request: { params: BudgetPath },
  responses: { 200: ok(BudgetResponse, "The budget."), ...FAILURES },
})

const put = createRoute({
  ...shared,
  method: "put",
  path: `${PATH}/{interval}`,
  operationId: "setWorkspaceBudget",
  summary: "Set a budget",
  description: "It applies from the next call on and includes earlier spend in its window.",
  middleware: [requireManagement, acceptJson(65_536)] as const,
  request: { params: BudgetPath, body: jsonBody(BudgetChange) },
  responses: { 200: ok(BudgetResponse, "The budget."), ...FAILURES, ...failures("conflict") },
})

const remove = createRoute({
  ...shared,
  method: "delete",
  path: `${PATH}/{interval}`,
  operationId: "deleteWorkspaceBudget",
  summary: "Delete a budget",
  request: { params: BudgetPath },
  responses: { 200: ok(BudgetDeleted, "Deleted, or did not exist."), ...FAILURES },
})

export const budgets = newRouter()
  .openapi(list, async (c) => {
    const { organizationId } = c.var.principal
    const found = await workspaceOf(c.env.DB, organizationId, c.req.valid("param").workspaceRef)
    return c.json(
      { data: await budgetsWithUse(c.env, organizationId, found), include_byok_in_budgets: found.includeByok },
      200,
    )
  })
  .openapi(get, async (c) => {
    const { workspaceRef, interval } = c.req.valid("param")
    const found = await workspaceOf(c.env.DB, c.var.principal.organizationId, workspaceRef)
    const row = found.budgets.find((budget) => budget.interval === interval)
    if (!row) throw new GatewayError("not_found", `The workspace has no ${interval} budget.`)
    return c.json({ data: toBudget(row), include_byok_in_budgets: found.includeByok }, 200)
  })
  .openapi(put, async (c) => {
    const { workspaceRef, interval } = c.req.valid("param")
    const input = c.req.valid("json")
    const { limit_usd: limitUsd, include_byok_in_budgets: includeByok } = input
    const { organizationId } = c.var.principal
    const found = await workspaceOf(c.env.DB, organizationId, workspaceRef)
    const limitNano = usdToNano(limitUsd)
    requireAscendingLimits(interval, limitNano, found.budgets)
    const now = Date.now()
    const { workspaceId } = found
    const budget = found.budgets.find((budget) => budget.interval === interval)
    const row = {
      id: budget?.id ?? newId(),
      workspaceId,
      interval,
      limitNano,
      updatedAt: now,
    }
    const changed = changesOf(input, ["limit_usd", "include_byok_in_budgets"])
    const resourceId = budgetName(workspaceId, interval)
    const entry = entryOf(c, { action: "workspace_budget.set", resourceId, workspaceId, changed })
    if (!(await putBudget(c.env.DB, { ...row, createdAt: now }, includeByok, entry))) {
      // A concurrent change set another budget: report which rule is violated.
      requireAscendingLimits(interval, limitNano, (await workspaceOf(c.env.DB, organizationId, workspaceRef)).budgets)
      throw new GatewayError("conflict", "Another budget of the workspace was changed concurrently. Retry.")
    }
    invalidateWorkspace(workspaceId)
    const data = toBudget({ ...row, createdAt: budget?.createdAt ?? now })
    return c.json({ data, include_byok_in_budgets: includeByok ?? found.includeByok }, 200)
  })
  .openapi(remove, async (c) => {
    const { workspaceRef, interval } = c.req.valid("param")
    const { workspaceId } = await workspaceOf(c.env.DB, c.var.principal.organizationId, workspaceRef)
    const resourceId = budgetName(workspaceId, interval)
    const entry = entryOf(c, { action: "workspace_budget.delete", resourceId, workspaceId })
    await deleteBudget(c.env.DB, workspaceId, interval, entry)
    invalidateWorkspace(workspaceId)
    return c.json({ deleted: true as const }, 200)
  })

/** A budget's id changes with each setting; its workspace and interval identify it. */
function budgetName(workspaceId: string, interval: string): string {
  return `${workspaceId}/${interval}`
}

async function workspaceOf(db: D1Database, organizationId: string, ref: string): Promise<BudgetedWorkspace> {
  const found = await findBudgets(db, organizationId, ref)
  if (!found) throw new GatewayError("not_found", "There is no workspace with this id or slug.")
  return found
}

/** Adds what the ledger counts for each. */
async function budgetsWithUse(
  env: Env,
  organizationId: string,
  { workspaceId, includeByok, budgets: rows }: BudgetedWorkspace,
): Promise<BudgetWithUse[]> {
  if (rows.length === 0) return []
  const limits = budgetLimits(workspaceId, { includeByok, limits: rows })
  // The first of the standings is the balance.
  const [, ...statuses] = await openLedger(env, organizationId).limitStatuses(limits)
  const now = Date.now()
  return rows.map((row, at) => withUse(row, statuses[at], now))
}
