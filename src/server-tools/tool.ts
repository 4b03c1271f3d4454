import type { GatewayError } from "../errors/errors.ts"
import type { PipelineStage } from "../formats/pipeline-stage.ts"
import type { Network } from "../outbound/resolve.ts"
import { type Budget, newBudget } from "./web-fetch/document.ts"
import type { FetchSettings } from "./web-fetch/guarded-fetch.ts"
import type { SearchSettings } from "./web-search/configured.ts"

export type JsonSchema = Record<string, unknown>
export type ToolKind = "datetime" | "web_fetch" | "web_search" | "mcp"

/** A tool as it is shown to the model. */
export type FunctionDefinition = { name: string; description: string; parameters: JsonSchema }

export type Citation = { url: string; title: string; content?: string }

/** Result of a run. Failures are results too: the model reads them and continues. */
export type ToolOutcome = {
  /** Text for the model. */
  content: string
  isError: boolean
  costNano: number
  /** Searches that an engine completed. */
  searches: number
  /** Output item of the Responses format, without `type`, `id` and `status`. */
  item: Record<string, unknown>
  citations: readonly Citation[]
  /** Guardrail findings, if the tool applies guardrails itself. */
  stages?: readonly PipelineStage[]
  /** A guardrail blocked the call or its result: the request ends with this error, and the model reads nothing. */
  blockError?: GatewayError
}

/** Settings of the operator: settings.ts. */
export type ToolSettings = { webFetch: FetchSettings; webSearch: SearchSettings | undefined }

/** Everything that a tool can use. */
export type ToolDeps = Network & {
  fetch: typeof fetch
  now: () => number
  /** Aborted when the client disconnects. */
  signal: AbortSignal
  settings: ToolSettings
}

/** Usage of the tools in one request, shared by all turns of its agent loop. */
export type Tally = { uses: Map<string, number>; searchResults: number; documents: Budget }

export function newTally(): Tally {
  return { uses: new Map(), searchResults: 0, documents: newBudget() }
}

/** A tool that the gateway runs for the model. */
export type ServerTool<Config> = {
  kind: ToolKind
  definition(config: Config): Omit<FunctionDefinition, "name">
  run(args: unknown, config: Config, deps: ToolDeps, tally: Tally): Promise<ToolOutcome>
}

/** A server tool with the options of one request. */
export type RequestedTool = {
  kind: ToolKind
  /** As written in the request: what `tool_choice` may name. */
  type: string
  /** `type` of its output items, and their `status` when a run failed. */
  itemType: string
  failedStatus: "failed" | "incomplete"
  definition: FunctionDefinition
  /** Maximum runs in a request; undefined for no limit. */
  maxUses: number | undefined
  /** Fields of its output item if a call could not run; absent for tools whose kind defines them. */
  rejectedItem?: (message: string) => Record<string, unknown>
  run(args: unknown, deps: ToolDeps, tally: Tally): Promise<ToolOutcome>
}

export function failure(message: string, item: Record<string, unknown>): ToolOutcome {
  return { content: message, isError: true, costNano: 0, searches: 0, item, citations: [] }
}
