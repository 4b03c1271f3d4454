import type { Pricing } from "../../money/pricing.ts"
import { isCount, isObject, objectsOf } from "../../support/text/json.ts"
import type { GeneratedUnits } from "../../money/money.ts"

/** A tool that a provider runs, and charges besides tokens. */
export type PaidTool = {
  type: string
  /** Position in the request. */
  path: string
  /** The price of what it makes; undefined if prices cannot express it. */
  price?: keyof Pricing
}

/**
 * Tools that vendors charge by image, container, hour or call. Their web search is not among them: without a price it is
 * run, and not charged. Versions of a tool end with a date. Some servers ignore the case of a type.
 */
type Paid = { pattern: RegExp; price?: keyof Pricing }
const PAID: readonly Paid[] = [
  { pattern: /^image_generation$/i, price: "image_output" },
  { pattern: /^(?:code_interpreter|code_execution(?:_\d+)?|file_search|x_search|collections_search)$/i },
]

type Tool = Record<string, unknown>

/** The tools of a request that a provider runs and charges besides tokens. */
export function paidToolsIn(tools: unknown): PaidTool[] {
  return objectsOf(tools).flatMap((tool, at) => {
    const { type } = tool
    if (typeof type !== "string") return []
    const paid = PAID.find(({ pattern }) => pattern.test(type))
    if (!paid && !isHostedShell(tool)) return []
    return [{ type, path: `tools[${at}].type`, ...(paid?.price && { price: paid.price }) }]
  })
}

/** A shell in a container of the provider. Another one runs at the client, and costs nothing. */
function isHostedShell({ type, environment }: Tool): boolean {
  const kind = isObject(environment) ? environment["type"] : undefined
  return (
    typeof type === "string" &&
    type.toLowerCase() === "shell" &&
    typeof kind === "string" &&
    kind.startsWith("container")
  )
}

/** Tool runs of a call if its request sets no limit. */
const UNLIMITED_RUNS = 10

/** Upper bound of what a provider generates with its tools for a request. */
export function toolUnitsOf({ tools, max_tool_calls: maxCalls }: Tool): Partial<GeneratedUnits> {
  const units = { searches: 0, pictures: 0 }
  for (const { type, max_uses: maxUses } of objectsOf(tools)) {
    if (typeof type !== "string") continue
    const runs = isCount(maxUses) ? maxUses : isCount(maxCalls) ? maxCalls : UNLIMITED_RUNS
    const name = type.toLowerCase()
    if (name.startsWith("web_search")) units.searches += runs
    if (name === "image_generation") units.pictures += runs
  }
  return units
}
