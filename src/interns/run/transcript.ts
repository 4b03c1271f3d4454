import { windowStart } from "../../money/windows.ts"
import type { ModelUsage, TurnUsage } from "./acp/acp.ts"
import type { PermissionDetails } from "./permission-details.ts"

/** Origin of a session. `acp`: an editor. `schedule:<id>`: a schedule of the intern. */
export type SessionOrigin = "chat" | "acp" | "background" | `schedule:${string}`

/** How the last turn of a session ended. `error` is absent if it completed. */
export type TurnEnd = { error?: { reason: string; message: string }; usage: TurnUsage | null }

/** Transcript entries of a session, in order. Text is joined from the agent's chunks. */
export type TranscriptEntry =
  | { kind: "prompt"; text: string }
  | { kind: "text" | "reasoning"; text: string }
  | ({ kind: "tool_call"; id: string; title: string; status: string } & PermissionDetails)
  | { kind: "question"; id: string; question: Record<string, unknown> }
  | { kind: "answer"; question_id: string; content: string }
  | ({ kind: "end" } & TurnEnd)

/**
 * `n` grows within an intern, and is the cursor of a transcript. `at`: epoch milliseconds. `body`: JSON of the entry.
 */
export type StoredEntry = { n: number; at: number; body: string }

/** Instants are epoch milliseconds. */
export type SessionRecord = {
  id: string
  title: string
  origin: SessionOrigin
  createdAt: number
  updatedAt: number
  turns: number
  usage: TurnUsage | null
  /** USD of the turns on the last day with an ended turn. Absent in sessions of earlier releases. */
  day?: DayCost
  lastEnd: TurnEnd | null
}

/** `start`: of a UTC day. */
export type DayCost = { start: number; cost: number }

export function addToDay(day: DayCost | undefined, turn: TurnUsage | null, now: number): DayCost {
  const start = windowStart("daily", now)
  return { start, cost: (day?.start === start ? day.cost : 0) + (turn?.cost ?? 0) }
}

/** Adds the usage of a turn to that of a session. */
export function addUsage(sum: TurnUsage | null, turn: TurnUsage | null): TurnUsage | null {
  if (!sum || !turn) return sum ?? turn
  const cached = (sum.prompt_tokens_details?.cached_tokens ?? 0) + (turn.prompt_tokens_details?.cached_tokens ?? 0)
  const hasCost = sum.cost !== undefined || turn.cost !== undefined
  return {
    prompt_tokens: sum.prompt_tokens + turn.prompt_tokens,
    completion_tokens: sum.completion_tokens + turn.completion_tokens,
    total_tokens: sum.total_tokens + turn.total_tokens,
    ...(cached > 0 && { prompt_tokens_details: { cached_tokens: cached } }),
    ...(hasCost && { cost: (sum.cost ?? 0) + (turn.cost ?? 0) }),
    ...((sum.by_model ?? turn.by_model) && { by_model: addModels(sum.by_model ?? [], turn.by_model ?? []) }),
  }
}

/** One entry for each model, in the order of their first use. */
export function addModels(sum: readonly ModelUsage[], more: readonly ModelUsage[]): ModelUsage[] {
  const byName = new Map(sum.map((one) => [one.model, one]))
  for (const added of more) {
    const existing = byName.get(added.model)
    const cached = (existing?.cached_tokens ?? 0) + (added.cached_tokens ?? 0)
    byName.set(added.model, {
      model: added.model,
      calls: (existing?.calls ?? 0) + added.calls,
      prompt_tokens: (existing?.prompt_tokens ?? 0) + added.prompt_tokens,
      completion_tokens: (existing?.completion_tokens ?? 0) + added.completion_tokens,
      ...(cached > 0 && { cached_tokens: cached }),
      cost: (existing?.cost ?? 0) + added.cost,
    })
  }
  return [...byName.values()]
}
