import type { BroadcastContext, RequestParameters } from "../ledger/generation.ts"
import { type CallScope, matches, type DestinationFilter } from "./coverage.ts"
import { isObject } from "../support/text/json.ts"

/** Request context for destinations, beyond the generation record. */
export type ExportContext = {
  user: string | null
  trace: Readonly<Record<string, unknown>> | null
  /** The call is a conversation with messages. */
  hasMessages: boolean
  exported?: (() => ExportedRequest) | undefined
  /** The call is a run of a server tool. */
  isToolRun?: boolean
} & Pick<BroadcastContext, "parentId" | "toolRuns">

/** The part of a request that is exported besides its messages. */
export type ExportedRequest = { parameters: RequestParameters; tools: readonly unknown[] }

/** The trace is stored with the hold and with the generation. */
const MAX_TRACE = 8_192
const MAX_TRACE_KEY = 256
const KNOWN = ["trace_id", "trace_name", "span_name", "generation_name", "parent_span_id"]

/** Export context of a call; undefined if no destination matches, so that such a call has no cost of export. */
export function exportContextOf(
  destinations: readonly DestinationFilter[],
  call: Omit<CallScope, "region"> & { region: string | null },
  { user, trace, hasMessages, exported, isToolRun, parentId, toolRuns = [] }: ExportContext,
): BroadcastContext | undefined {
  const region = call.region ?? "global"
  const listening = destinations.filter((head) => matches(head, { ...call, region }))
  if (listening.length === 0) return undefined
  const hasContent = hasMessages && listening.some(({ readsContent }) => readsContent)
  const parameters = exported?.().parameters ?? {}
  return {
    region,
    user,
    trace: isObject(trace) ? limitTrace(trace) : null,
    hasContent,
    ...(Object.keys(parameters).length > 0 && { parameters }),
    ...(isToolRun && { isToolRun }),
    ...(parentId !== undefined && { parentId }),
    ...(toolRuns.length > 0 && { toolRuns }),
  }
}

function limitTrace(trace: Readonly<Record<string, unknown>>): Record<string, unknown> {
  if (JSON.stringify(trace).length <= MAX_TRACE) return { ...trace }
  const short = Object.entries(trace).flatMap(([key, value]) =>
    KNOWN.includes(key) && typeof value === "string" ? [[key, value.slice(0, MAX_TRACE_KEY)] as const] : [],
  )
  return { ...Object.fromEntries(short), metadata_left_out: `trace is longer than ${MAX_TRACE} characters` }
}
