import type { ChatRequest } from "../../formats/schemas.ts"

/** Default and maximum number of rounds with tools. */
export const MAX_STEPS = 30

export type Condition = NonNullable<ChatRequest["stop_server_tools_when"]>[number]

/** Progress of an agent loop. */
export type Progress = {
  /** Rounds in which the model called server tools. */
  steps: number
  finishReason: string | null
  /** Names of the tools called in the last round. */
  called: readonly string[]
  costNano: number
  tokens: number
}

/** Whether the loop ends after this round: when any condition is met, or, without conditions, at the step limit. */
export function isOver(
  progress: Progress,
  conditions: readonly Condition[] | null | undefined,
  maxSteps: number,
): boolean {
  if (!conditions || conditions.length === 0) return progress.steps >= maxSteps
  // Conditions replace the step limit of the request, but never the maximum.
  return progress.steps >= MAX_STEPS || conditions.some((condition) => isMet(condition, progress))
}

function isMet(condition: Condition, { steps, finishReason, called, costNano, tokens }: Progress): boolean {
  switch (condition.type) {
    case "step_count_is":
      return steps >= condition.step_count
    case "finish_reason_is":
      return finishReason === condition.reason
    case "has_tool_call":
      return called.some((name) => withoutPrefix(condition.tool_name) === name || condition.tool_name === name)
    case "max_cost":
      return costNano >= condition.max_cost_in_dollars * 1e9
    case "max_tokens_used":
      return tokens >= condition.max_tokens
  }
}

function withoutPrefix(name: string): string {
  return name.replace(/^(?:service|openrouter):/, "")
}
