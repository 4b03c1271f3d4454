import { GatewayError } from "../../errors/errors.ts"
import type { ChatRequest } from "../../formats/schemas.ts"
import { pricesOf } from "../../money/price-list.ts"
import type { Pricing } from "../../money/pricing.ts"
import { targetKey } from "../../routing/target.ts"
import type { InferenceCall, PreparedCall } from "../call.ts"
import { costRangeFor } from "./cost-bound.ts"
import type { Deps } from "../deps.ts"
import { chatRequest } from "../endpoints/chat/request.ts"
import { planTargets } from "../plan.ts"
import { isClientTool } from "../../formats/tools/client-tools.ts"
import { needsPreparation } from "../prepare/needs.ts"
import { prepare } from "../prepare/prepare.ts"
import { applyPreset } from "../presets/apply.ts"
import { screenInput } from "../screening/screen.ts"
import { inlineStoredFiles } from "../input/stored-files.ts"

export type CallEstimate = {
  leastNano: number
  mostNano: number
  estimateNano: number
  promptTokens: number
  targets: { model: string; provider: string; isByok: boolean; mostNano: number; pricing: Pricing }[]
  /** Parts of the call that the estimate does not include. */
  excludes: string[]
}

/** Steps 1 to 3 of the pipeline, and the amounts of step 4. Sends, holds and charges nothing. */
export async function estimateCall(call: InferenceCall<ChatRequest>, deps: Deps): Promise<CallEstimate> {
  const screened = await screenInput(await applyPreset(await inlineStoredFiles(call, deps), deps))
  const { chat, excludes } = await withoutExtras(screened, deps)
  const request = {
    ...chatRequest(chat, screened.bodyBytes),
    ...(screened.screening && { screening: screened.screening }),
  }
  const prepared: PreparedCall = { request, meta: screened.meta, caller: screened.caller }
  const { targets } = planTargets(prepared, deps)
  const expectedOf = (target: (typeof targets)[number]) => deps.health.expectedCompletion(targetKey(target))
  const range = costRangeFor(targets, request.bounds, expectedOf)
  return {
    ...range,
    promptTokens: request.bounds.promptEstimate,
    targets: targets.map((target) => ({
      model: target.model.id,
      provider: target.provider.name,
      isByok: target.byok !== undefined,
      mostNano: costRangeFor([target], request.bounds, expectedOf).mostNano,
      pricing: pricesOf(target.endpoint.pricing, request.bounds.promptEstimate, request.bounds.priced),
    })),
    excludes,
  }
}

const PURE_PLUGINS = ["auto-router"]

/** Removes plugins and tools, which send requests or cost, and resolves variants and the automatic model. */
async function withoutExtras(
  { body, caller, meta }: InferenceCall<ChatRequest>,
  deps: Deps,
): Promise<{ chat: ChatRequest; excludes: string[] }> {
  if (!needsPreparation(body, deps, () => false)) return { chat: body, excludes: [] }
  const withoutOnline = (name: string) => name.replace(/:online(?=:|$)/i, "")
  const { plugins, tools, model, models } = body
  const keptPlugins = plugins?.filter(({ id }) => PURE_PLUGINS.includes(id))
  const keptTools = tools?.filter(({ type }) => isClientTool(type))
  const isOnline = [model, ...(models ?? [])].some((name) => name !== undefined && withoutOnline(name) !== name)
  const hasPlugins = isOnline || plugins?.length !== keptPlugins?.length || "transforms" in body
  const bare: ChatRequest = {
    ...body,
    plugins: keptPlugins,
    ...("transforms" in body && { transforms: undefined }),
    tools: keptTools?.length === 0 ? undefined : keptTools,
    ...(model !== undefined && { model: withoutOnline(model) }),
    ...(models && { models: models.map(withoutOnline) }),
  }
  const chargeToolRun = () => {
    throw new GatewayError("internal", "An estimate runs no tool.")
  }
  const { chat } = await prepare(bare, { deps, chargeToolRun, caller, region: meta.region })
  return {
    chat,
    excludes: [...(hasPlugins ? ["plugins"] : []), ...(keptTools?.length === tools?.length ? [] : ["server_tools"])],
  }
}
