/** The payload of the queue: ids of rows in D1 and objects in R2, without secrets or call content. */
export type BroadcastMessage =
  /** Calls of a workspace that were charged, to be sorted to its destinations. */
  | { kind: "calls"; organizationId: string; workspaceId: string; generationIds: string[]; since: number }
  /** A batch of an earlier release. Its destination is woken. */
  | { kind: "batch"; organizationId: string; batchId: string }
  /** One delivery of an alert. */
  | { kind: "alert"; organizationId: string; alertId: string; channelId: string }

export type AlertMessage = Extract<BroadcastMessage, { kind: "alert" }>
export type CallMessage = Exclude<BroadcastMessage, AlertMessage>

/** Calls in one message: their content must fit in an isolate together with that of other messages. */
export const CALLS_OF_A_MESSAGE = 25

/** The longest delay that a queue has, in seconds. */
const MAX_DELAY_SECONDS = 43_200

export function toDelay(ms: number): { delaySeconds: number } {
  return { delaySeconds: Math.min(MAX_DELAY_SECONDS, Math.max(1, Math.ceil(ms / 1_000))) }
}
