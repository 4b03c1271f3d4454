import type { ChatRequest } from "../../formats/schemas.ts"

/** Rounds with tools, unless conditions are set; also the most that can be asked for. */
export const MAX_STEPS = 30

export type Condition = NonNullable<ChatRequest["stop_server_tools_when"]>[number]

/** What an agent loop has done so far. */
export type Progress = {
  /** Rounds in which the model called server tools. */
  steps: number
  finishReason: string | null
  /** Names of the tools called in the last round. */
  called: readonly string[]
  costNano: number
  tokens: number
}

/** Whether the loop ends after this round. Any condition is enough; without conditions, the number of steps is. */
export function isOver(
  progress: Progress,
  conditions: readonly Condition[] | null | undefined,
  maxSteps: number,
): boolean {
  if (!conditions || conditions.length === 0) return progress.steps >= maxSteps
  // Conditions stand in for the number of steps; the most that there may be bounds them all.
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
