import * as z from "zod"
import { oneOf, queryInteger } from "../http/schema.ts"

/** Public data sets for which a gateway has no data: valid queries return an empty result. */

const SOURCES = ["artificial-analysis", "design-arena", "openrouter"] as const

export const BenchmarksQuery = z.object({
  source: oneOf(SOURCES).optional(),
  task_type: oneOf(["coding", "intelligence", "agentic", "search"]).optional(),
  benchmark_type: oneOf([
    "gpqa_diamond",
    "tau_bench_verified_airline",
    "search_browsecomp",
    "search_hle",
    "search_dsqa",
    "search_widesearch",
  ]).optional(),
  include_run_config: oneOf(["true", "false"]).optional(),
  search_engine: z.string().max(128).optional(),
  search_surface: oneOf(["server-tool", "plugin"]).optional(),
  arena: oneOf(["models", "builders", "agents"]).optional(),
  category: z.string().max(128).optional(),
  max_results: queryInteger(1, Number.MAX_SAFE_INTEGER, "must be a whole number of at least 1").optional(),
})

export const Benchmarks = z
  .object({
    data: z.array(z.looseObject({ source: z.string() })),
    meta: z.object({
      as_of: z.iso.datetime(),
      version: z.literal("v1"),
      source: z.enum(SOURCES).nullable(),
      source_url: z.string().nullable(),
      citation: z.string().nullable(),
      task_type: z.string().nullable(),
      model_count: z.int(),
    }),
  })
  .meta({ id: "Benchmarks" })

export const TaskClassificationsQuery = z.object({ window: oneOf(["7d"]).default("7d") })

export const TaskClassifications = z
  .object({
    data: z.object({
      as_of: z.iso.datetime(),
      window_days: z.int(),
      classifications: z.array(z.looseObject({ tag: z.string() })),
      macro_categories: z.array(z.looseObject({ key: z.string() })),
    }),
  })
  .meta({ id: "TaskClassifications" })
