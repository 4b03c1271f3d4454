import type { OwnKey } from "../byok/usable-credentials.ts"
import type { FreeLimits } from "../ledger/free-requests.ts"
import type { LedgerClient } from "../ledger/client.ts"
import type { LivePreset } from "../presets/preset.ts"
import type { Content } from "../generations/content.ts"
import type { Words } from "../formats/transcript.ts"
import type { Generation } from "../ledger/generation.ts"
import type { Provider } from "../providers/provider.ts"
import type { ModerationSettings } from "../plugins/moderation.ts"
import type { ToolWorld } from "../server-tools/tool.ts"
import type { EndpointHealth } from "../routing/health.ts"
import type { PlanWorld } from "../routing/plan.ts"
import type { Timers } from "../config/timers.ts"

/** How a request arrived: what is recorded of it beside its body. */
export type Arrival = {
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
export type World = {
  ledger: LedgerClient
  catalogue: PlanWorld["catalogue"]
  providers: PlanWorld["providers"]
  own: PlanWorld["own"]
  /** The caller's own key in clear, to be sent; undefined where it cannot be opened. */
  openKey: (key: OwnKey) => Promise<string | undefined>
  health: EndpointHealth
  timers: Timers
  freeLimits: () => FreeLimits
  /** Throws where free models are asked for far beyond what there is of them. */
  refuseFreeFlood: () => Promise<void>
  send: (request: Request, provider: Provider) => Promise<Response>
  /** What the gateway's own tools and plugins can touch; throws where a variable that they need cannot be read. */
  tools: () => ToolWorld
  moderation: () => ModerationSettings | undefined
  /** A preset of the caller's workspace. */
  presetOf: (slug: string) => Promise<LivePreset | undefined>
  /** Keeps what is said in calls; absent where the workspace keeps nothing. */
  contents?: {
    keeps: (id: string) => boolean
    put: (call: { id: string; createdAt: number }, content: Content) => Promise<void>
  }
  /** Keeps what is said in calls that somebody listens to; absent where nobody does. */
  tell?: (id: string, messages: readonly unknown[], output: Words) => Promise<void>
  /** Hides an end user's id from providers. */
  pseudonymOf: (user: string) => Promise<string>
  /** Counts a call that has ended; absent where nobody counts. */
  measure?: (generation: Generation) => void
  /** Keeps the isolate at work after the answer has begun. */
  later: (work: Promise<unknown>) => void
  /** Fires when the caller has left. */
  signal: AbortSignal
}
