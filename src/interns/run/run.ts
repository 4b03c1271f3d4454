import type { Reason } from "../lifecycle/reasons.ts"
import type { Schedule } from "../schedule.ts"
import type { PermissionOption, RpcId, TurnUsage } from "./acp/acp.ts"
import type { FieldDescriptor } from "./form.ts"
import type { PermissionDetails } from "./permission-details.ts"

export const APPROVAL_MODES = ["manual", "self-drive"] as const
export type ApprovalMode = (typeof APPROVAL_MODES)[number]

/** Limits of a run, in milliseconds and bytes. */
export const LIMITS = {
  /** Limit of one chat request: from the prompt or the answer to the end of its response. */
  turnMs: 300_000,
  questionTimeoutMs: 300_000,
  /** Limit of a background turn. */
  backgroundMs: 3_600_000,
  /** Limit of a question in a background turn, which has no connected client. */
  backgroundQuestionMs: 24 * 3_600_000,
  /** Time for an agent to confirm a cancellation, and for a lost host to reconnect. */
  graceMs: 10_000,
  /** Time for an agent to open a session. */
  openingMs: 60_000,
  /** Limit of the replay buffer of a paused run. */
  replayBytes: 256 * 1024,
  /** Limit of the questions of a run that wait behind an open one, in characters of JSON. */
  queuedChars: 512 * 1024,
  /** Limit of the messages of a run that its agent has not taken. */
  steerChars: 256 * 1024,
  keepaliveMs: 30_000,
  openRuns: 16,
  turnsPerMinute: 60,
  promptChars: 32_000,
} as const

export type Question = { id: string; rpc: RpcId; deadline: number } &
  /** `details` is absent in runs of older versions. */
  (
    | { kind: "permission"; operation: string | null; options: PermissionOption[]; details?: PermissionDetails }
    | { kind: "elicitation"; message: string; fields: FieldDescriptor[] }
  )

/** A schedule that starts a run. */
export type StartedBy = Pick<Schedule, "id" | "dailyLimitUsd">

/** Why a run is being cancelled. */
export type Ending = "deadline" | "client_closed_request" | "timeout" | "answered_cancel" | "stopped" | "not_opened"

/**
 * One turn of an intern. `streaming`: a client is attached. `paused`: on a question, without a client. `cancelling`:
 * the agent has not confirmed the cancellation. Instants are epoch milliseconds.
 */
export type Run = {
  id: string
  /** The client's name for the conversation. */
  session: string
  /** The agent's id of the session; null until it is open. */
  acp: string | null
  state: "streaming" | "paused" | "cancelling" | "ended"
  mode: ApprovalMode
  /** Continues without a client. Absent in runs of older versions. */
  isBackground?: boolean
  /** The ACP client that sent the prompt, and the id of its request. Null for a turn of a chat. */
  client?: { id: string; request: RpcId } | null
  /** The schedule that started the run, with its limit at that time in case it is deleted. Absent for none. */
  schedule?: StartedBy
  /** Absent in runs of older versions. */
  startedAt?: number
  ending: Ending | null
  /** Requests of the gateway without a response of the agent. */
  openRpc: number | null
  isLoading: boolean
  promptRpc: number | null
  /** Steering messages without a response of the agent. Absent in runs of older versions, as are the next two. */
  steers?: { rpc: number; text: string }[]
  /** Steering messages that came after the agent's turn. */
  lateTexts?: string[]
  /** Result of the agent's turn as JSON, while `steers` are unanswered. */
  heldResult?: string | null
  /** Messages to send once the session is open: the prompt, then later ones. */
  pendingPrompts: string[]
  question: Question | null
  queued: Question[]
  /** Number of questions so far, for their ids. */
  questionCount: number
  keptBytes: number
  hasOverflowed: boolean
  usage: TurnUsage | null
  costUsd: number | null
  model: string | null
  turnDeadline: number | null
  graceDeadline: number | null
}

export type Delta = { content: string } | { reasoning: string }

/** How a response ends. */
export type Finish =
  | { reason: "stop" }
  | { reason: "tool_calls"; question: Question }
  | { reason: "error"; error: { reason: Reason; message: string; status?: number; retryable?: boolean } }

/** Effects that the object performs, in this order. */
export type Effect =
  | { do: "request"; rpc: number; method: string; params: unknown }
  | { do: "notify"; method: string; params: unknown }
  | { do: "respond"; rpc: RpcId; result: unknown }
  /** Links the agent's id of the session to the client's. */
  | { do: "bind"; acp: string }
  /** Sends to the connected client. */
  | { do: "send"; delta: Delta }
  /** Adds to the replay buffer for the next client. */
  | { do: "keep"; delta: Delta }
  | { do: "forget kept" }
  | { do: "replay" }
  /** Ends the open response, if there is one. */
  | { do: "finish"; finish: Finish }

export type Step = { run: Run; effects: Effect[] }

/** Whether no chat response is attached, so that the run continues while the object hibernates. */
export const isDetached = ({ isBackground, client }: Pick<Run, "isBackground" | "client">): boolean =>
  Boolean(isBackground || client)

export const isOpen = ({ state }: Run): boolean => state !== "ended"

/** The next deadline of the run; null for none. */
export function nextDeadline(run: Run): number | null {
  const deadlines = [
    run.state === "paused" ? (run.question?.deadline ?? null) : null,
    run.turnDeadline,
    run.graceDeadline,
  ]
  const set = deadlines.filter((at) => at !== null)
  return set.length === 0 ? null : Math.min(...set)
}
