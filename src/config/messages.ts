/** The payload of the queue: ids of rows in D1 and objects in R2, without secrets or call content. */
export type BroadcastMessage =
  /**
   * Settled calls of a workspace, to be sorted to its destinations. `isKept`: the ledger keeps them until they are
   * confirmed; absent for turns and in messages of earlier releases.
   */
  | {
      kind: "calls"
      organizationId: string
      workspaceId: string
      generationIds: string[]
      since: number
      isKept?: true
    }
  /** A batch of an earlier release. Its destination is woken. */
  | { kind: "batch"; organizationId: string; batchId: string }
  /** One delivery of an alert. */
  | { kind: "alert"; organizationId: string; alertId: string; channelId: string }

export type AlertMessage = Extract<BroadcastMessage, { kind: "alert" }>
export type CallMessage = Exclude<BroadcastMessage, AlertMessage>

/** Calls in one message, and UTF-16 units of their content: it must fit in an isolate with that of other messages. */
export const MAX_CALLS_PER_MESSAGE = 100
export const MAX_CONTENT_PER_MESSAGE = 1_000_000

/** The longest delay that a queue has, in seconds. */
const MAX_DELAY_SECONDS = 43_200

export function toDelay(ms: number): { delaySeconds: number } {
  return { delaySeconds: Math.min(MAX_DELAY_SECONDS, Math.max(1, Math.ceil(ms / 1_000))) }
}
