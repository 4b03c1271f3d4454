import { useGet } from "../../api/query.ts"
import { Select } from "../../ui/field.tsx"
import type { CheckRule, Draft } from "./draft.ts"

type Check = { name: string; format: string; if_unavailable: string }

const CHOICES: readonly { value: string; label: string; rule?: Omit<CheckRule, "check"> }[] = [
  { value: "off", label: "Off" },
  { value: "flag-input", label: "Flag requests", rule: { action: "flag", direction: "input" } },
  { value: "flag-output", label: "Flag responses", rule: { action: "flag", direction: "output" } },
  { value: "flag-both", label: "Flag both", rule: { action: "flag", direction: "both" } },
  { value: "redact-input", label: "Redact requests", rule: { action: "redact", direction: "input" } },
  { value: "block-input", label: "Block requests", rule: { action: "block", direction: "input" } },
  { value: "block-output", label: "Block responses", rule: { action: "block", direction: "output" } },
  { value: "block-both", label: "Block both", rule: { action: "block", direction: "both" } },
]

/** Rules for the external checks of the deployment, if it has any. */
export function Checks({ draft, onChange }: { draft: Draft; onChange: (draft: Draft) => void }) {
  const available = useGet<{ data: Check[] }>("/guardrails/checks")
  const known = (available.data?.data ?? []).map(({ name }) => name)
  // A check that the operator removed blocks calls until its rule is removed as well.
  const names = [...new Set([...known, ...draft.checks.map(({ check }) => check)])]
  if (names.length === 0) return null
  const choose = (name: string, value: string) => {
    const rule = CHOICES.find((choice) => choice.value === value)?.rule
    const others = draft.checks.filter(({ check }) => check !== name)
    onChange({ ...draft, checks: rule ? [...others, { check: name, ...rule }] : others })
  }
  return (
    <div class="stack tight">
      <h3>External checks</h3>
      <div class="detectors">
        {names.map((name) => {
          const rule = draft.checks.find(({ check }) => check === name)
          const isMissing = available.data !== undefined && !known.includes(name)
          return (
            <Select
              key={name}
              label={isMissing ? `${name} (not configured)` : name}
              options={CHOICES}
              value={rule ? `${rule.action}-${rule.direction}` : "off"}
              onChange={(value) => choose(name, value)}
            />
          )
        })}
      </div>
      <p class="quiet small">
        The operator configured these services. A stream is sent when its response has passed the checks that block
        responses.
      </p>
    </div>
  )
}
