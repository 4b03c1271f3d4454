import * as z from "zod"
import { oneOf } from "../http/schema.ts"
import { DIMENSION_NAMES, GRANULARITIES, isDimension, METRIC_NAMES, OPERATOR_NAMES } from "./analytics.ts"

const list = <T extends string>(names: T[]) => names as [T, ...T[]]

const dimension = oneOf(list(DIMENSION_NAMES))
const metric = oneOf(list(METRIC_NAMES))
const scalar = z.union([z.string().max(256), z.number()], { error: "must be a string or a number" })
const instant = z.iso.datetime({ offset: true, error: "must be an RFC 3339 date-time with seconds" })
const ORDERED = ["gt", "gte", "lt", "lte"]

/** Whether an ordering operator can compare the value: lists have no order, and metrics compare with numbers only. */
function isComparable({ field, operator, value }: { field: string; operator: string; value: unknown }): boolean {
  if (!ORDERED.includes(operator)) return true
  return typeof value === "number" || (typeof value === "string" && (isDimension(field) || isNumeric(value)))
}

const isNumeric = (text: string) => text.trim() !== "" && Number.isFinite(Number(text))

type Ordered = { order_by?: { field: string } | undefined; dimensions: string[]; granularity?: string | undefined }

/** Rows have a date only with a granularity, and no dimension that the query does not name. */
function isOrdered({ order_by: order, dimensions, granularity }: Ordered): boolean {
  if (!order) return true
  if (order.field === "date") return granularity !== undefined
  return !isDimension(order.field) || dimensions.includes(order.field)
}

const classifiers = z.looseObject({ classifier_id: z.string() })

export const MAX_ROWS = 10_000

export const AnalyticsQuery = z
  .strictObject({
    metrics: z.array(metric).min(1, "must name a metric").max(METRIC_NAMES.length, "names a metric twice"),
    dimensions: z.array(dimension).max(DIMENSION_NAMES.length, "names a dimension twice").default([]),
    granularity: oneOf(GRANULARITIES).optional(),
    filters: z
      .array(
        z
          .strictObject({
            field: z.union([dimension, metric], { error: "must be a dimension or a metric of GET /analytics/meta" }),
            operator: oneOf(list(OPERATOR_NAMES)),
            value: z.union(
              [scalar, z.array(scalar).min(1, "must have a value").max(100, "must have at most 100 values")],
              {
                error: "must be a string, a number or an array of them",
              },
            ),
            include_unset: z.boolean().optional(),
          })
          .refine(isComparable, {
            path: ["value"],
            error: `must be one value with ${ORDERED.join(", ")}, and a number for a metric`,
          }),
      )
      .max(20, "must be at most 20 filters")
      .default([]),
    time_range: z.strictObject({ start: instant, end: instant }).optional(),
    order_by: z
      .strictObject({
        field: z.union([z.literal("date"), dimension, metric], { error: "must be date, a dimension or a metric" }),
        direction: oneOf(["asc", "desc"]),
      })
      .optional(),
    limit: z
      .int()
      .min(1, `must be from 1 to ${MAX_ROWS}`)
      .max(MAX_ROWS, `must be from 1 to ${MAX_ROWS}`)
      .default(1_000),
    group_limit: z.int().min(1, "must be from 1 to 1000").max(1_000, "must be from 1 to 1000").optional(),
    classifier_dimensions: classifiers.optional(),
    classifier_filters: classifiers.optional(),
  })
  .refine(isOrdered, {
    path: ["order_by", "field"],
    error: "must be a metric, a dimension that the query names, or date with a granularity",
  })
  .meta({ id: "AnalyticsQuery" })
export type AnalyticsQuery = z.infer<typeof AnalyticsQuery>

export const AnalyticsMeta = z
  .object({
    dimensions: z.array(z.object({ name: z.string(), display_label: z.string() })),
    granularities: z.array(z.object({ name: z.string(), display_label: z.string() })),
    metrics: z.array(
      z.object({
        name: z.string(),
        display_label: z.string(),
        display_format: z.enum(["number", "currency", "percent", "latency", "throughput"]),
        is_rate: z.boolean(),
      }),
    ),
    operators: z.array(z.object({ name: z.string(), value_type: z.enum(["scalar", "array"]) })),
  })
  .meta({ id: "AnalyticsMeta" })

export const AnalyticsResponse = z
  .object({
    data: z.array(z.record(z.string(), z.union([z.string(), z.number(), z.null()]))),
    metadata: z.object({
      query_time_ms: z.number(),
      row_count: z.int(),
      truncated: z.boolean().meta({ description: "There were more rows than were read, or than `limit`." }),
    }),
    warnings: z.array(z.string()).optional(),
  })
  .meta({ id: "AnalyticsResponse" })
