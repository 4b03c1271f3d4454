import type { InternIdentity } from "../../src/interns/hosts/rpc.ts"
import type { TurnRecord } from "../../src/observability/turn.ts"
import type { InternConfig } from "../../src/interns/hosts/host.ts"

/** State of the daemon link: its epoch, the last frame received from it, and the number of the next frame to send. */
export type Peer = { epoch: string; received: number; next: number; isReady: boolean }

export type Phase = "new" | "provisioning" | "running" | "stopped" | "destroying"

/** `isAwaitingHost`: all is ready but a host that dials in. `attempt`: of a boot, from 1. `wakeAt`: when it is taken up again, epoch milliseconds. */
export type LifecycleState = {
  phase: Phase
  attempt: number
  wakeAt: number | null
  isLossAcknowledged: boolean
  isAwaitingHost?: boolean
  /** Why it does not run, as its record says. */
  failure?: string | null
  /** When the agent was connected. */
  upAt?: number
}

/** Single values that an object stores. */
export type Facts = {
  identity: InternIdentity
  lifecycle: LifecycleState
  /** The embedded agent's. */
  config: InternConfig
  /** That the agent was started with; null for the default of the workspace. */
  model: string | null
  peer: Peer
  /** It has the files and schedules that it was created with. */
  isFurnished: boolean
  /** Turns that have ended and are not on their way to destinations. */
  turnExports: TurnRecord[]
  /** The last request id that was used. */
  rpc: number
  /** When prompts of the last minute came, epoch milliseconds. */
  turns: number[]
}
