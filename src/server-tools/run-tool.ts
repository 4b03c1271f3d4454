import { logError } from "../support/log.ts"
import { failure, type RequestedTool, type Tally, type ToolOutcome, type ToolDeps } from "./tool.ts"
import { isObject, parseJson } from "../support/text/json.ts"

const MAX_ARGUMENTS_LENGTH = 100_000

/** Runs one tool call of the model. Always returns an outcome: failures are for the model to read. */
export async function runServerTool(
  tool: RequestedTool,
  argumentsJson: string,
  deps: ToolDeps,
  tally: Tally,
): Promise<ToolOutcome> {
  const { name } = tool.definition
  const used = tally.uses.get(name) ?? 0
  if (tool.maxUses !== undefined && used >= tool.maxUses) {
    const times = tool.maxUses === 1 ? "once" : `${tool.maxUses} times`
    return rejectCall(
      tool,
      `${name} may be used ${times} in this request, which is used up. Continue without it.`,
      deps,
    )
  }
  tally.uses.set(name, used + 1)
  const args = parse(argumentsJson)
  if (args === undefined) return rejectCall(tool, `The arguments of ${name} must be a JSON object.`, deps)
  try {
    return await tool.run(args, deps, tally)
  } catch (thrown) {
    logError("a server tool failed", { tool: tool.kind }, thrown)
    return rejectCall(tool, `${name} failed inside the gateway.`, deps)
  }
}

/** A failed outcome with the item fields that its API format requires: datetime always has a time. */
function rejectCall(tool: RequestedTool, message: string, { now }: ToolDeps): ToolOutcome {
  if (tool.rejectedItem) return failure(message, tool.rejectedItem(message))
  if (tool.kind === "web_search") return failure(message, { action: { type: "search", query: "", sources: [] } })
  if (tool.kind === "web_fetch") return failure(message, { error: message })
  return failure(message, { datetime: `${new Date(now()).toISOString().slice(0, 19)}+00:00`, timezone: "UTC" })
}

/** Some models write a call without arguments as an empty string. */
function parse(json: string): Record<string, unknown> | undefined {
  if (json.trim() === "") return {}
  if (json.length > MAX_ARGUMENTS_LENGTH) return undefined
  const value = parseJson(json)
  return isObject(value) ? value : undefined
}
