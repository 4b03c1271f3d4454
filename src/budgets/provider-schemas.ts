import * as z from "zod"
import { BudgetChange, BudgetPath } from "./schemas.ts"

export const ProviderBudgetPath = BudgetPath.pick({ interval: true }).extend({
  provider: z.string().min(1).max(128).meta({ description: "The provider's slug." }),
})

export const ProviderBudgetChange = BudgetChange.pick({ limit_usd: true })
  .extend({
    include_byok: z.boolean({ error: "must be true or false" }).optional().meta({
      description: "Whether to count the cost of calls with BYOK credentials. Default for a new budget: `false`.",
    }),
  })
  .meta({ id: "ProviderBudgetChange" })

export const ProviderBudget = z
  .object({
    provider: z.string(),
    limit_usd: z.number(),
    reset_interval: z.enum(["daily", "weekly", "monthly"]).nullable().meta({ description: "null: lifetime." }),
    include_byok: z.boolean().meta({ description: "Whether it counts the cost of calls with BYOK credentials." }),
    spent_usd: z.number().meta({ description: "In the current window." }),
    held_usd: z.number().meta({ description: "Reserved for running calls." }),
    resets_at: z.iso.datetime().nullable().meta({ description: "Start of the next window, in UTC." }),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: "ProviderBudget" })
export type ProviderBudget = z.infer<typeof ProviderBudget>

export const ProviderBudgetResponse = z.object({ data: ProviderBudget }).meta({ id: "ProviderBudgetResponse" })
export const ProviderBudgetList = z.object({ data: z.array(ProviderBudget) }).meta({ id: "ProviderBudgetList" })
export const ProviderBudgetDeleted = z.object({ deleted: z.literal(true) }).meta({ id: "ProviderBudgetDeleted" })
