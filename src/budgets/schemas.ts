import * as z from "zod"
import { isNanoPrecise, NANO_PRECISE } from "../money/money.ts"
import { BUDGET_INTERVALS } from "./table.ts"

const positive = "must be a number of USD above 0"

export const BudgetPath = z.object({
  workspaceRef: z.string().min(1).max(128).meta({ description: "The workspace's id or slug." }),
  interval: z
    .enum(BUDGET_INTERVALS, { error: `accepts ${BUDGET_INTERVALS.join(", ")}` })
    .meta({ description: "`lifetime` never resets." }),
})
export const WorkspacePath = BudgetPath.pick({ workspaceRef: true })

export const BudgetChange = z
  .strictObject({
    limit_usd: z
      .number({ error: positive })
      .gt(0, positive)
      .max(1_000_000_000, "must be at most 1000000000")
      .refine(isNanoPrecise, NANO_PRECISE),
    include_byok_in_budgets: z
      .boolean({ error: "must be true or false" })
      .optional()
      .meta({ description: "For all budgets of the workspace: count the cost of calls with BYOK credentials." }),
  })
  .meta({ id: "WorkspaceBudgetChange" })

export const Budget = z
  .object({
    id: z.uuid(),
    workspace_id: z.uuid(),
    limit_usd: z.number(),
    reset_interval: z.enum(["daily", "weekly", "monthly"]).nullable().meta({ description: "null: lifetime." }),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: "WorkspaceBudget" })
export type Budget = z.infer<typeof Budget>

export const BudgetWithUse = Budget.extend({
  spent_usd: z.number().meta({ description: "USD in the current window." }),
  held_usd: z.number().meta({ description: "USD that is reserved for running calls." }),
  resets_at: z.iso.datetime().nullable().meta({ description: "Start of the next window, in UTC." }),
}).meta({ id: "WorkspaceBudgetWithUse" })
export type BudgetWithUse = z.infer<typeof BudgetWithUse>

const flag = { include_byok_in_budgets: z.boolean() }
export const BudgetResponse = z.object({ data: Budget, ...flag }).meta({ id: "WorkspaceBudgetAnswer" })
export const BudgetList = z.object({ data: z.array(BudgetWithUse), ...flag }).meta({ id: "WorkspaceBudgetList" })
export const BudgetDeleted = z.object({ deleted: z.literal(true) }).meta({ id: "WorkspaceBudgetDeleted" })
