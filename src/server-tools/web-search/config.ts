import * as z from "zod"
import { type DomainRule, Domains } from "../domains.ts"
import { rejectAt } from "../parse-at.ts"
import { maxUses } from "../web-fetch/web-fetch.ts"
import { SEARCH_VARIABLES, type SearchSettings, variableOf } from "./configured.ts"
import { engines, type EngineName, engineNames } from "./engines.ts"

const MAX_RESULTS = 20
const DEFAULT_RESULTS = 5
const DEFAULT_TOTAL_RESULTS = 50
const MAX_CHARACTERS = 100_000
const DEFAULT_CHARACTERS = 2_000
const CONTEXT_CHARACTERS = { low: 5_000, medium: 15_000, high: 30_000 } as const

const CHOICES = ["auto", "native", ...engineNames] as const
const MODES = [...new Set(engineNames.flatMap((name) => engines[name].modes))]

const between = (min: number, max: number) => {
  const rule = `must be an integer from ${min} to ${max}`
  return z.int({ error: rule }).min(min, rule).max(max, rule)
}
const scope = z.string({ error: "must be a string" }).max(200, "must be at most 200 characters").nullish()

/** Options in API field names. The two domain lists have different names in each accepted shape. */
const WebSearchOptions = z.object(
  {
    engine: z.enum(CHOICES, { error: `accepts ${CHOICES.join(", ")}` }).nullish(),
    max_results: between(1, MAX_RESULTS).nullish(),
    max_total_results: between(1, 1_000).nullish(),
    max_characters: between(1, MAX_CHARACTERS).nullish(),
    max_uses: maxUses,
    mode: z.enum(MODES, { error: `accepts ${MODES.join(", ")}` }).nullish(),
    search_context_size: z.enum(["low", "medium", "high"], { error: "accepts low, medium or high" }).nullish(),
    allowed_domains: Domains.nullish(),
    excluded_domains: Domains.nullish(),
    blocked_domains: Domains.nullish(),
    include_domains: Domains.nullish(),
    exclude_domains: Domains.nullish(),
    filters: z
      .object(
        {
          allowed_domains: Domains.nullish(),
          excluded_domains: Domains.nullish(),
          blocked_domains: Domains.nullish(),
        },
        { error: "must be an object with allowed_domains or excluded_domains" },
      )
      .nullish(),
    user_location: z
      .object(
        {
          type: z.literal("approximate", { error: 'accepts "approximate"' }).nullish(),
          country: scope,
          region: scope,
          city: scope,
          timezone: scope,
        },
        { error: "must be an object with country, region, city or timezone" },
      )
      .nullish(),
    x_search: z.undefined({ error: "is not available on this gateway; leave it out" }).optional(),
  },
  { error: "must be an object" },
)

export type WebSearchConfig = {
  engine: EngineName
  maxResults: number
  maxTotalResults: number
  maxCharacters: number
  contextSize: "low" | "medium" | "high" | undefined
  mode: string | undefined
  allowed: readonly DomainRule[]
  excluded: readonly DomainRule[]
  country: string | undefined
  maxUses: number | undefined
}

/** Options checked against the capabilities of the chosen engine. */
export function webSearchConfig(settings: SearchSettings) {
  return WebSearchOptions.transform((options, context): WebSearchConfig => {
    const reject = (field: string, message: string) => {
      context.addIssue({ code: "custom", path: [field], message })
      return z.NEVER
    }
    const { filters, mode, search_context_size: contextSize } = options
    const engine = toEngine(options.engine, settings)
    if (!settings.engines.has(engine)) {
      const has = [...settings.engines.keys()].join(", ")
      return reject("engine", `${engine} is not configured here (${variableOf(engine)} is not set); there is ${has}`)
    }
    const { modes } = engines[engine]
    if (mode != null && !modes.includes(mode)) {
      return reject(
        "mode",
        `${engine} has no such mode; ${modes.length > 0 ? `it has ${modes.join(", ")}` : "leave it out"}`,
      )
    }
    const allowed = [options.allowed_domains, options.include_domains, filters?.allowed_domains].flatMap(orNone)
    const excluded = [
      options.excluded_domains,
      options.blocked_domains,
      options.exclude_domains,
      filters?.excluded_domains,
      filters?.blocked_domains,
    ].flatMap(orNone)
    if (allowed.length > 0 && excluded.length > 0) {
      const name = ["excluded_domains", "blocked_domains", "exclude_domains"].find((one) => one in options)
      return reject(name ?? "filters", "cannot be used together with a list of allowed domains")
    }
    return {
      engine,
      maxResults: options.max_results ?? DEFAULT_RESULTS,
      maxTotalResults: options.max_total_results ?? DEFAULT_TOTAL_RESULTS,
      maxCharacters:
        options.max_characters ?? (contextSize == null ? DEFAULT_CHARACTERS : CONTEXT_CHARACTERS[contextSize]),
      contextSize: contextSize ?? undefined,
      mode: mode ?? undefined,
      allowed,
      excluded,
      country: toCountry(options.user_location?.country),
      maxUses: options.max_uses ?? undefined,
    }
  })
}

/** The settings. Throws an error that names the configuration to set. */
export function requireSearch(settings: SearchSettings | undefined, path: string, name: string): SearchSettings {
  if (settings) return settings
  throw rejectAt(path, `${name} needs a search engine, and none is configured here: set ${SEARCH_VARIABLES}`)
}

function toEngine(choice: (typeof CHOICES)[number] | null | undefined, settings: SearchSettings): EngineName {
  return choice == null || choice === "auto" || choice === "native" ? settings.preferred : choice
}

function orNone(rules: readonly DomainRule[] | null | undefined): readonly DomainRule[] {
  return rules ?? []
}

/** Engines accept a two-letter country code; other locations are dropped. */
function toCountry(country: string | null | undefined): string | undefined {
  return country != null && /^[A-Za-z]{2}$/.test(country) ? country.toUpperCase() : undefined
}
