import { FREE, isNamed, type Filter, type RequestedAliases } from "../models/lists/endpoint-filter.ts"
import type { Endpoint } from "../models/catalogue.ts"
import { matcher } from "../support/text/wildcard.ts"
import { type GuardrailRules, ZDR_FAMILIES } from "./guardrail.ts"

/** Endpoint filters of a guardrail. Each guardrail filters separately, so an endpoint must pass all of them. */
export function routeFilters({ id, name, rules }: { id: string; name: string; rules: GuardrailRules }): Filter[] {
  const filters: Filter[] = []
  const add = (field: string, reason: string, keeps: Filter["keeps"]) =>
    filters.push({
      name: `the guardrail "${name}" ${reason} (${field})`,
      keeps,
      rule: { guardrailId: id, field },
    })
  const { allowed_models: models, ignored_models: ignoredModels } = rules
  const { allowed_providers: providers, ignored_providers: ignoredProviders, allowed_data_regions: regions } = rules
  if (models) {
    const isMatch = matcher(models)
    const isAllowed = (aliases: RequestedAliases) => aliases.coverAllModels && aliases.names.every(isMatch)
    add(
      "allowed_models",
      "does not allow the model",
      ({ model }, _provider, _region, aliases) =>
        isNamedModel(model, isMatch) || (aliases ? isAllowed(aliases) : false),
    )
  }
  if (ignoredModels) {
    const isMatch = matcher(ignoredModels)
    add(
      "ignored_models",
      "excludes the model",
      ({ model }, _provider, _region, aliases) => !isNamedModel(model, isMatch) && !aliases?.names.some(isMatch),
    )
  }
  if (providers) {
    add("allowed_providers", "does not allow them", (endpoint, provider) =>
      providers.some((slug) => isNamed(slug, endpoint, provider)),
    )
  }
  if (ignoredProviders) {
    add(
      "ignored_providers",
      "excludes them",
      (endpoint, provider) => !ignoredProviders.some((slug) => isNamed(slug, endpoint, provider)),
    )
  }
  if (regions) {
    // A regional hostname only uses endpoints of its region, so the hostname decides where a call is processed.
    const reason = `takes calls only by the hostnames of: ${regions.join(", ")}`
    add("allowed_data_regions", reason, (_endpoint, _provider, region) =>
      regions.some((one) => one === (region ?? "global")),
    )
  }
  addDataFilters(add, rules)
  return filters
}

type Add = (field: string, reason: string, keeps: Filter["keeps"]) => void

/** Filters by data policy. Publication is not known separately: an endpoint that may retain data may publish it. */
function addDataFilters(add: Add, rules: GuardrailRules): void {
  for (const family of ZDR_FAMILIES) {
    if (rules[`enforce_zdr_${family}`] !== true) continue
    add(
      `enforce_zdr_${family}`,
      "requires zero data retention, which they do not guarantee",
      (endpoint) => familyOf(endpoint) !== family || endpoint.zeroRetention,
    )
  }
  if (rules.enable_paid_model_training === false) {
    add(
      "enable_paid_model_training",
      "allows no training on data",
      (...one) => !one[0].collectsData || FREE.keeps(...one),
    )
  }
  const freeMay = rules.enable_free_model_training !== false && rules.enable_free_model_publication !== false
  if (!freeMay) {
    const flag = rules.enable_free_model_training === false ? "training" : "publication"
    add(
      `enable_free_model_${flag}`,
      `allows no ${flag} of data`,
      (...one) => !one[0].collectsData || !FREE.keeps(...one),
    )
  }
}

/** A model name includes its variants. */
function isNamedModel(model: string, isMatch: (name: string) => boolean): boolean {
  return isMatch(model) || (model.includes(":") && isMatch(model.slice(0, model.lastIndexOf(":"))))
}

const FAMILIES: Readonly<Record<string, (typeof ZDR_FAMILIES)[number]>> = {
  anthropic: "anthropic",
  google: "google",
  openai: "openai",
  "x-ai": "xai",
  xai: "xai",
}

function familyOf({ model }: Endpoint): (typeof ZDR_FAMILIES)[number] {
  return FAMILIES[model.slice(0, model.indexOf("/"))] ?? "other"
}
