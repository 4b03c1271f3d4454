import type { ApiKey } from "../../api/types.ts"
import { absolute } from "../../format/time.ts"
import { Select, TextField } from "../../ui/field.tsx"

const HOUR_MS = 3_600_000
/** By the number of hours from now. An end that is set is the first choice. */
const LENGTHS = [
  { value: "24", label: "for a day" },
  { value: "168", label: "for a week" },
  { value: "720", label: "for 30 days" },
]
const KEPT = "kept"

/** `hours`: from now; `kept` for the end that is set. */
export type IncreaseInput = { amount: string; hours: string }

export function increaseOf({ limit_increase: set }: ApiKey): IncreaseInput {
  return set === null ? { amount: "", hours: "24" } : { amount: String(set.amount), hours: KEPT }
}

export function increaseFault({ amount }: IncreaseInput): string | undefined {
  const value = Number(amount)
  return amount === "" || (value > 0 && value <= 1_000_000) ? undefined : "must be more than 0, at most 1000000 USD"
}

/** The change of the increase; empty if it stays as it is. */
export function increaseChange(apiKey: ApiKey, input: IncreaseInput): { limit_increase?: ApiKey["limit_increase"] } {
  const before = increaseOf(apiKey)
  if (input.amount === before.amount && (input.amount === "" || input.hours === before.hours)) return {}
  if (input.amount === "") return { limit_increase: null }
  const kept = input.hours === KEPT ? apiKey.limit_increase?.expires_at : undefined
  const expires_at = kept ?? new Date(Date.now() + Number(input.hours) * HOUR_MS).toISOString()
  return { limit_increase: { amount: Number(input.amount), expires_at } }
}

type Props = { apiKey: ApiKey; input: IncreaseInput; onChange: (input: IncreaseInput) => void }

export function IncreaseFields({ apiKey, input, onChange }: Props) {
  const set = apiKey.limit_increase
  const kept = set === null ? [] : [{ value: KEPT, label: `until ${absolute(Date.parse(set.expires_at))}` }]
  return (
    <details class="fold" open={set !== null}>
      <summary>Temporary increase</summary>
      <div class="stack">
        <TextField
          label="Increase, USD"
          type="number"
          min={0}
          step="any"
          placeholder="none"
          value={input.amount}
          onChange={(amount) => onChange({ ...input, amount })}
          fault={increaseFault(input)}
          hint="Added to the limit in each of its windows"
        />
        {input.amount !== "" && (
          <Select
            label="How long"
            value={input.hours}
            onChange={(hours) => onChange({ ...input, hours })}
            options={[...kept, ...LENGTHS]}
          />
        )}
      </div>
    </details>
  )
}
