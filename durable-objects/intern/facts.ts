import type { InternIdentity } from "../../src/interns/hosts/rpc.ts"
import type { TurnRecord } from "../../src/observability/turn.ts"
import type { InternConfig } from "../../src/interns/hosts/host.ts"

/** State of the daemon link: its epoch, the last frame received from it, and the number of the next frame to send. */
export type Peer = { epoch: string; received: number; next: number; isReady: boolean }

export type Phase = "new" | "provisioning" | "running" | "stopped" | "destroying"

/**
 * `isAwaitingHost`: everything but a host that dials in is ready. `attempt`: number of the start, from 1. `wakeAt`:
 * time of the next step, epoch milliseconds.
 */
export type LifecycleState = {
  phase: Phase
  attempt: number
  wakeAt: number | null
  isLossAcknowledged: boolean
  isAwaitingHost?: boolean
  /** Failure reason in the intern's record. */
  failure?: string | null
  /** Time when the agent was connected. */
  upAt?: number
}

/** Single values that an object stores. */
export type Facts = {
  identity: InternIdentity
  lifecycle: LifecycleState
  /** Configuration of the embedded agent. */
  config: InternConfig
  /** Model that the agent was started with; null for the default of the workspace. */
  model: string | null
  peer: Peer
  /** Whether its initial files and schedules are stored. Existing interns have the fact by this name. */
  isFurnished: boolean
  /** Ended turns that are not sent to destinations yet. */
  turnExports: TurnRecord[]
  /** The last used request id. */
  rpc: number
  /** Times of the prompts in the last minute, epoch milliseconds. */
  turns: number[]
}
