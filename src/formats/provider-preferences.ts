import * as z from "zod"

/** The provider preferences of a request: which providers may serve it, and in which order. */

const text = z.string({ error: "must be a string" })
const flag = z.boolean({ error: "must be true or false" })

const QUANTIZATIONS = "int4 int8 fp4 mxfp4 nvfp4 fp6 fp8 mxfp8 fp16 bf16 fp32 unknown".split(" ")
const SORTS = ["price", "throughput", "latency", "exacto"] as const

const slugs = z.array(text, { error: "must be an array of provider slugs" }).nullish()
const price = "must be USD as a decimal string"
const decimal = z.union([text.regex(/^\d{1,12}(\.\d{1,12})?$/, price), z.number().min(0, price).max(1e12, price)], {
  error: price,
})
const threshold = z.number({ error: "must be a number" }).min(0, "must be at least 0")
const percentiles = z.union(
  [
    threshold,
    z.looseObject({
      p50: threshold.nullish(),
      p75: threshold.nullish(),
      p90: threshold.nullish(),
      p99: threshold.nullish(),
    }),
  ],
  { error: "must be a number or an object with p50, p75, p90 and p99" },
)

export const ProviderPreferences = z
  .looseObject({
    allow_fallbacks: flag.nullish(),
    order: slugs,
    only: slugs,
    ignore: slugs,
    require_parameters: flag.nullish(),
    data_collection: z.enum(["allow", "deny"], { error: 'accepts "allow" or "deny"' }).nullish(),
    zdr: flag.nullish(),
    enforce_distillable_text: flag.nullish(),
    quantizations: z.array(z.enum(QUANTIZATIONS, { error: `accepts ${QUANTIZATIONS.join(", ")}` })).nullish(),
    sort: z
      .union(
        [z.enum(SORTS), z.looseObject({ by: z.enum(SORTS).nullish(), partition: z.enum(["model", "none"]).nullish() })],
        { error: `accepts ${SORTS.join(", ")} or an object with by and partition` },
      )
      .nullish(),
    max_price: z
      .looseObject({
        prompt: decimal.optional(),
        completion: decimal.optional(),
        request: decimal.optional(),
        image: decimal.optional(),
        audio: decimal.optional(),
      })
      .nullish(),
    preferred_max_latency: percentiles.nullish(),
    preferred_min_throughput: percentiles.nullish(),
  })
  .meta({ id: "ProviderPreferences" })
export type ProviderPreferences = z.infer<typeof ProviderPreferences>
