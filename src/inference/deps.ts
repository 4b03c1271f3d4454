import type { ByokCredential } from "../byok/usable-credentials.ts"
import type { FreeLimits } from "../ledger/free-requests.ts"
import type { ContentChecks } from "../guardrails/checks/check.ts"
import type { LedgerClient } from "../ledger/client.ts"
import type { ActivePreset } from "../presets/preset.ts"
import type { Content } from "../generations/content.ts"
import type { CallText } from "../observability/call-content.ts"
import type { BroadcastContext, Generation } from "../ledger/generation.ts"
import type { RequestedAliases } from "../models/lists/endpoint-filter.ts"
import type { Provider } from "../providers/provider.ts"
import type { ModerationSettings } from "../plugins/moderation.ts"
import type { OpenMcp } from "../server-tools/mcp.ts"
import type { ToolDeps } from "../server-tools/tool.ts"
import type { CacheRequest } from "../response-cache/request.ts"
import type { ResponseStore } from "../response-cache/store.ts"
import type { Deferral } from "./deferred/deferral.ts"
import type { FindFile } from "../files/inline.ts"
import type { MediaHosts } from "./input/media-urls.ts"
import type { EndpointHealth } from "../routing/health.ts"
import type { PlanInput } from "../routing/plan.ts"
import type { Timers } from "../config/timers.ts"

/** Metadata of a request that is recorded with its generation. */
export type RequestMeta = {
  requestId: string
  sessionId: string | null
  appUrl: string | null
  appTitle: string | null
  userAgent: string | null
  wantsMetadata: boolean
  wantsTiming: boolean
  /** The chunk with the usage of a chat stream has an empty choice. */
  hasChoiceWithUsage?: boolean
  /** Region of the hostname of the request; null for a hostname without one. */
  region: string | null
  /** Services that guardrails may name to judge texts. */
  contentChecks: ContentChecks
  /** Id of the preset that the request names. */
  presetId?: string
  /** Name of the alias that the request names. */
  alias?: string
  /** All aliases that the request names, for rules about models. */
  aliases?: RequestedAliases
  /** Generation id if it is known in advance, as for a call in a provider batch. */
  generationId?: string
  /** Absent if the response cache is not used. */
  cache?: CacheRequest
  /** Set for later rounds of an agent loop. */
  round?: Pick<BroadcastContext, "parentId" | "toolRuns">
}

/** Dependencies of the pipeline, built once per request by the route. Steps do not import Hono or read `env`. */
export type Deps = {
  ledger: LedgerClient
  catalogue: PlanInput["catalogue"]
  providers: PlanInput["providers"]
  byok: PlanInput["byok"]
  /** Whether requests may name things that are stored in the gateway's accounts at providers. */
  sharesProviderStorage: boolean
  /** Types of providers' tools that the gateway's key may use although their charges have no price. */
  unpricedTools: ReadonlySet<string>
  /** Decrypts a BYOK credential; undefined if that fails. */
  openKey: (key: ByokCredential) => Promise<string | undefined>
  health: EndpointHealth
  timers: Timers
  freeLimits: () => FreeLimits
  /** Set for a call in a provider batch. */
  deferral?: Deferral
  /** Throws 429 for a flood of requests on free models. */
  throttleFreeModels: () => Promise<void>
  send: (url: string, init: RequestInit, provider: Provider) => Promise<Response>
  /** Dependencies of server tools and plugins. */
  tools: () => ToolDeps
  moderation: () => ModerationSettings | undefined
  /** Private hosts whose media providers may fetch. */
  mediaHosts: () => MediaHosts
  /** A file of the principal's workspace; undefined if there is no such file. */
  findFile: FindFile
  /** Opens sessions with MCP servers; absent if the request cannot use their tools. */
  openMcp?: OpenMcp
  /** Loads a preset of the workspace. */
  presetOf: (slug: string) => Promise<ActivePreset | undefined>
  /** Response cache settings of a call whose preset has `response_cache_seconds`; the header of the request wins. */
  presetCache: (seconds: number) => CacheRequest | undefined
  /** Content logging; absent if the workspace has it off. */
  contents?: {
    keeps: (id: string) => boolean
    put: (call: { id: string; createdAt: number }, content: Content) => Promise<void>
  }
  /** Call content for destinations; absent if the workspace has no destination. */
  exports?: {
    /** JSON of the content. */
    toContent: (text: CallText) => string
    /** Saves content that is too long for a settlement. */
    put: (id: string, content: string) => Promise<void>
  }
  /** Stored responses; absent for a call in a batch of a provider. */
  responses?: ResponseStore
  /** Pseudonym of an end user's id. Providers never receive the id. */
  pseudonymOf: (user: string) => Promise<string>
  /** Writes the call's line to the log. */
  logCall: (generation: Generation) => void
  /** Records a metric of a finished call; absent without an Analytics Engine binding. */
  recordMetric?: (generation: Generation) => void
  /** The runtime's `waitUntil`. */
  waitUntil: (work: Promise<unknown>) => void
  /** Aborted when the client disconnects. */
  signal: AbortSignal
}
