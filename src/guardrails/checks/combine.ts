import type { GuardrailRules } from "../guardrail.ts"
import type { ContentCheckRule } from "../schemas.ts"
import type { Action } from "../content/text-filter.ts"

/** A check that guardrails of a key name, with the action of each of them on a finding, by their index. */
export type AppliedCheck = {
  name: string
  input: ReadonlyMap<number, Action>
  output: ReadonlyMap<number, Action>
}

/** Combines the checks of several guardrails: each check runs once. */
export function combineChecks(settings: readonly Pick<GuardrailRules, "content_checks">[]): AppliedCheck[] {
  const checks = new Map<string, { name: string; input: Map<number, Action>; output: Map<number, Action> }>()
  for (const [owner, { content_checks: rules }] of settings.entries()) {
    for (const { check: name, action, direction } of rules ?? []) {
      const applied = checks.get(name) ?? { name, input: new Map<number, Action>(), output: new Map<number, Action>() }
      if (readsInput(direction)) applied.input.set(owner, action)
      if (readsOutput(direction)) applied.output.set(owner, action)
      checks.set(name, applied)
    }
  }
  return [...checks.values()]
}

type Direction = ContentCheckRule["direction"]
const readsInput = (direction: Direction) => direction !== "output"
const readsOutput = (direction: Direction) => direction === "output" || direction === "both"
