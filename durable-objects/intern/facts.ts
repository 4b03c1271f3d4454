import type { InternIdentity } from "../../src/interns/hosts/rpc.ts"
import type { InternConfig } from "../../src/interns/hosts/host.ts"

/** What is known of the daemon: its epoch, the last frame that it sent, and the number of our next one. */
export type Peer = { epoch: string; received: number; next: number; isReady: boolean }

export type Phase = "new" | "provisioning" | "running" | "stopped" | "destroying"

/** `attempt`: of a boot, from 1. `wakeAt`: when it is taken up again, epoch milliseconds. */
export type LifecycleState = { phase: Phase; attempt: number; wakeAt: number | null; isLossAcknowledged: boolean }

/** What an object keeps one of. */
export type Facts = {
  identity: InternIdentity
  lifecycle: LifecycleState
  /** The embedded agent's. */
  config: InternConfig
  /** That the agent was started with; null for the default of the workspace. */
  model: string | null
  peer: Peer
  /** The last request id that was used. */
  rpc: number
  /** When prompts of the last minute came, epoch milliseconds. */
  turns: number[]
}
