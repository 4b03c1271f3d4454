import { isClientTool } from "../../formats/tools/client-tools.ts"
import type { Catalogue } from "../../models/catalogue.ts"
import { AUTO_MODEL } from "../../models/known-names.ts"
import type { Provider } from "../../providers/provider.ts"
import type { PlanInput } from "../../routing/plan.ts"
import { isRegisteredMcp } from "../../server-tools/mcp.ts"
import { findModel, splitRequestVariants } from "../../routing/names.ts"

/** Fields of a request in any API format that decide whether plugins or server tools run. */
export type Preparable = {
  model?: string | undefined
  models?: readonly string[] | null | undefined
  plugins?: readonly { enabled?: boolean | null | undefined }[] | null | undefined
  tools?: readonly { type?: string | null | undefined }[] | null | undefined
} & Readonly<Record<string, unknown>>

type Deps = Pick<PlanInput, "catalogue" | "providers" | "byok">

const GATEWAY_TOOL = /^(?:service|openrouter):/

export function isAuto(name: string, catalogue: Catalogue): boolean {
  return AUTO_MODEL.test(name) && !catalogue.models.has(name)
}

/** Whether the request uses plugins, variants or server tools. `isNativeTo`: providers that run vendor tools. */
export function needsPreparation(
  request: Preparable,
  deps: Deps,
  isNativeTo: (provider: Provider) => boolean,
): boolean {
  const { plugins, tools, transforms } = request
  if (plugins?.some(({ enabled }) => enabled !== false)) return true
  if (Array.isArray(transforms) && transforms.length > 0) return true
  const names = namesOf(request)
  if (names.some((name) => isChanged(name, deps.catalogue))) return true
  const foreign = (tools ?? []).filter(({ type }) => !isClientTool(type))
  if (foreign.length === 0) return false
  return (
    foreign.some((tool) => GATEWAY_TOOL.test(tool.type ?? "") || isRegisteredMcp(tool)) ||
    !isServed(names, deps, isNativeTo)
  )
}

export function namesOf({ model, models }: Preparable): string[] {
  return [...(model === undefined ? [] : [model]), ...(models ?? [])]
}

function isChanged(name: string, catalogue: Catalogue): boolean {
  return isAuto(name, catalogue) || splitRequestVariants(name, catalogue).variants.length > 0
}

function isServed(names: readonly string[], deps: Deps, isNativeTo: (provider: Provider) => boolean): boolean {
  return names.some((name) =>
    findModel(name, deps.catalogue).model?.endpoints.some((endpoint) => {
      const provider = deps.providers.get(endpoint.provider) ?? deps.byok?.providers.get(endpoint.provider)
      return provider !== undefined && isNativeTo(provider)
    }),
  )
}
