import * as z from "zod"

const MAX_MODELS = 8
const rule = "must be an array of models, author/slug, or null"
const description = "Models to try, in this order, if a budget, a limit or the balance rejects the requested ones."

export const overBudgetInput = z
  .array(z.string({ error: rule }).min(1, "must not be empty").max(256, "must be at most 256 characters"), {
    error: rule,
  })
  .max(MAX_MODELS, `must be at most ${MAX_MODELS} models`)
  .nullish()
  .meta({ description })

export const allowUnknown = z.boolean({ error: "must be true or false" }).optional().meta({
  description:
    "For this request only: accepts names of models that the gateway does not know (yet). Otherwise they are a 400 with similar names.",
})

export const overBudgetOutput = z.array(z.string()).nullable().meta({ description })
