import { type Json, objectsOf } from "../../support/text/json.ts"
import { GatewayError } from "../../errors/errors.ts"
import {
  type Candidate,
  chooseModels,
  type Facts,
  looksLikeCode,
  type AutoRouterPreferences,
} from "../../plugins/auto-router.ts"
import { pricedEndpoints } from "../../models/model.ts"
import type { PipelineStage } from "../../formats/pipeline-stage.ts"
import { estimatePromptTokens } from "../../support/tokens.ts"
import type { Filter } from "../../models/lists/endpoint-filter.ts"
import { producesOutput } from "../../routing/plan.ts"
import type { ChatRequest } from "../../formats/schemas.ts"
import type { Deps } from "../deps.ts"

/** Filters of the policy, and the region that the call must stay in. */
type Within = { filters: readonly Filter[]; region: string | null }

/** Maximum number of models: the chosen one and its fallbacks. */
const MAX_CHOSEN = 4

/** The request with models in place of the automatic one. */
export function choose(
  chat: ChatRequest,
  preferences: AutoRouterPreferences,
  deps: Deps,
  within: Within,
): { chat: ChatRequest; stage: PipelineStage } {
  const candidates = candidatesOf(deps, within, (preferences.allowed_models ?? []).length > 0)
  const chosen = chooseModels(candidates, preferences, factsOf(chat)).slice(0, MAX_CHOSEN)
  const [model] = chosen
  if (model === undefined) {
    throw new GatewayError(
      "not_found",
      "No model matches the allowed models of the automatic choice: widen allowed_models or name a model.",
    )
  }
  const stage: PipelineStage = {
    type: "plugin",
    name: "auto-router",
    summary: `chose ${model}`,
    data: { models: chosen },
  }
  return { chat: { ...chat, model, models: chosen.slice(1) }, stage }
}

/** Embedded models are chosen only if allowed by name or if no other model remains; then the first of these. */
const EMBEDDED_FALLBACKS = ["embedded/guide", "sim/echo"]
const EMBEDDED = /^(?:embedded|sim(?:-\w+)?)\//

function candidatesOf(deps: Deps, within: Within, isNamed: boolean): Candidate[] {
  const all = listCandidates(deps, within)
  if (isNamed) return all
  const real = all.filter(({ id }) => !EMBEDDED.test(id))
  if (real.length > 0) return real
  const fallback = EMBEDDED_FALLBACKS.flatMap((name) => all.find(({ id }) => id === name) ?? [])
  return fallback.slice(0, 1)
}

function listCandidates({ catalogue, providers }: Deps, within: Within): Candidate[] {
  return [...catalogue.models.values()].flatMap((model) => {
    const offers = pricedEndpoints(model).filter((endpoint) => {
      const provider = providers.get(endpoint.provider)
      return provider && within.filters.every((filter) => filter.keeps(endpoint, provider, within.region))
    })
    const [cheapest] = offers
    if (!cheapest || !producesOutput(model, "text")) return []
    return [
      {
        id: model.id,
        promptPrice: cheapest.pricing.prompt,
        completionPrice: cheapest.pricing.completion,
        created: model.created,
        contextLength: model.contextLength,
        inputModalities: model.inputModalities,
        supportedParameters: offers.flatMap(({ supportedParameters }) => supportedParameters),
      },
    ]
  })
}

function factsOf({ messages, tools, response_format: format }: ChatRequest): Facts {
  const parts = messages.flatMap(({ content }) => objectsOf(content))
  const text = messages.map(({ content }) => (typeof content === "string" ? content : JSON.stringify(content ?? "")))
  const latest: Json | undefined = messages.findLast(({ role }) => role === "assistant")
  return {
    promptTokens: estimatePromptTokens(messages),
    needsTools: (tools?.length ?? 0) > 0,
    needsImages: parts.some(({ type }) => type === "image_url"),
    needsStructured: format?.type === "json_schema" || format?.type === "json_object",
    hasCode: text.some(looksLikeCode),
    lastAssistantModel: typeof latest?.["model"] === "string" ? latest["model"] : undefined,
  }
}
