import type { GuardrailRules } from "../guardrail.ts"
import type { BuiltinFilter, ContentFilter } from "../schemas.ts"
import { detectorOf } from "../detectors/builtins.ts"
import type { Detector } from "../detectors/detector.ts"
import { programOf } from "./patterns/pattern.ts"
import type { Action, Rule } from "./text-filter.ts"

export type ContentSettings = {
  content_filters?: GuardrailRules["content_filters"] | undefined
  content_filter_builtins?: GuardrailRules["content_filter_builtins"] | undefined
}

/**
 * A rule with the indexes of the guardrails that contain it, and the action of each on a match.
 * `scansAllRoles`: it also scans texts of the model.
 */
export type OwnedRule = Rule & { owners: number[]; actions: Map<number, Action>; scansAllRoles: boolean }

const STRENGTH: Readonly<Record<Action, number>> = { flag: 0, redact: 1, block: 2 }
const MAX_NAME_LENGTH = 100

type NewRule = {
  action: Action
  owner: number
  detector: () => Detector
  scansAllRoles: boolean
}

/** Combines the filters of several guardrails: of equal filters the stronger action applies. */
export function combineRules(settings: readonly ContentSettings[]): OwnedRule[] {
  const rules = new Map<string, OwnedRule>()
  const add = (key: string, { action, owner, detector, scansAllRoles }: NewRule) => {
    const existing = rules.get(key)
    if (!existing)
      return void rules.set(key, {
        detector: detector(),
        action,
        owners: [owner],
        actions: new Map([[owner, action]]),
        scansAllRoles,
      })
    if (STRENGTH[action] > STRENGTH[existing.action]) existing.action = action
    if (!existing.owners.includes(owner)) existing.owners.push(owner)
    const previous = existing.actions.get(owner)
    if (!previous || STRENGTH[action] > STRENGTH[previous]) existing.actions.set(owner, action)
    existing.scansAllRoles ||= scansAllRoles
  }
  for (const [owner, { content_filters: filters, content_filter_builtins: builtins }] of settings.entries()) {
    for (const filter of filters ?? [])
      add(`own ${filter.pattern}`, {
        action: filter.action,
        owner,
        detector: () => toDetector(filter),
        scansAllRoles: true,
      })
    for (const { slug, action, scan_scope: scope } of builtins ?? []) {
      add(slug, {
        action,
        owner,
        detector: () => detectorOf(slug),
        scansAllRoles: scansAllRoles({ slug, scan_scope: scope }),
      })
    }
  }
  return [...rules.values()]
}

function scansAllRoles({ slug, scan_scope: scope }: Pick<BuiltinFilter, "slug" | "scan_scope">): boolean {
  return slug !== "regex-prompt-injection" || scope !== "user_only"
}

function toDetector({ pattern, label }: ContentFilter): Detector {
  return {
    name: (label == null || label === "" ? pattern : label).slice(0, MAX_NAME_LENGTH),
    engine: "regex",
    label: ruleLabel(label),
    program: () => programOf(pattern),
    limit: Number.POSITIVE_INFINITY,
  }
}

/** Replacement for text that a custom filter redacts: its label in brackets. */
function ruleLabel(label: string | null | undefined): string {
  if (label == null || label === "") return "[REDACTED]"
  return /^\[.*\]$/s.test(label) ? label : `[${label}]`
}
