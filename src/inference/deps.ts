import type { ByokCredential } from "../byok/usable-credentials.ts"
import type { FreeLimits } from "../ledger/free-requests.ts"
import type { LedgerClient } from "../ledger/client.ts"
import type { ActivePreset } from "../presets/preset.ts"
import type { Content } from "../generations/content.ts"
import type { Transcript } from "../formats/transcript.ts"
import type { Generation } from "../ledger/generation.ts"
import type { Provider } from "../providers/provider.ts"
import type { ModerationSettings } from "../plugins/moderation.ts"
import type { ToolDeps } from "../server-tools/tool.ts"
import type { EndpointHealth } from "../routing/health.ts"
import type { PlanInput } from "../routing/plan.ts"
import type { Timers } from "../config/timers.ts"

/** How a request arrived: what is recorded of it beside its body. */
export type RequestMeta = {
  requestId: string
  sessionId: string | null
  appUrl: string | null
  appTitle: string | null
  userAgent: string | null
  wantsMetadata: boolean
  wantsTiming: boolean
  /** Of the hostname it came to; null on any that has none. */
  region: string | null
  /** The id of the preset that the request names, once it is found. */
  presetId?: string
}

/** All that a call can touch. A route builds it from the request; nothing below knows Hono or the environment. */
export type Deps = {
  ledger: LedgerClient
  catalogue: PlanInput["catalogue"]
  providers: PlanInput["providers"]
  byok: PlanInput["byok"]
  /** The caller's own key in clear, to be sent; undefined where it cannot be opened. */
  openKey: (key: ByokCredential) => Promise<string | undefined>
  health: EndpointHealth
  timers: Timers
  freeLimits: () => FreeLimits
  /** Throws where free models are asked for far beyond what there is of them. */
  throttleFreeModels: () => Promise<void>
  send: (request: Request, provider: Provider) => Promise<Response>
  /** What the gateway's own tools and plugins can touch; throws where a variable that they need cannot be read. */
  tools: () => ToolDeps
  moderation: () => ModerationSettings | undefined
  /** A preset of the caller's workspace. */
  presetOf: (slug: string) => Promise<ActivePreset | undefined>
  /** Keeps what is said in calls; absent where the workspace keeps nothing. */
  contents?: {
    keeps: (id: string) => boolean
    put: (call: { id: string; createdAt: number }, content: Content) => Promise<void>
  }
  /** Keeps what is said in calls that somebody listens to; absent where nobody does. */
  saveCallContent?: (id: string, messages: readonly unknown[], output: Transcript) => Promise<void>
  /** Hides an end user's id from providers. */
  pseudonymOf: (user: string) => Promise<string>
  /** Counts a call that has ended; absent where nobody counts. */
  recordMetric?: (generation: Generation) => void
  /** Keeps the isolate at work after the answer has begun. */
  waitUntil: (work: Promise<unknown>) => void
  /** Fires when the caller has left. */
  signal: AbortSignal
}
