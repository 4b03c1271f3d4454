import { useState } from "preact/hooks"
import { api } from "../../api/client.ts"
import { usd } from "../../format/number.ts"
import { toast } from "../../state/toasts.ts"
import { Button } from "../button.tsx"
import { Check, TextField } from "../field.tsx"
import { Meter } from "./meter.tsx"
import { useSubmit } from "../hooks/use-submit.ts"
import { Money } from "../values.tsx"
import { Reset, WindowStrip } from "./window-strip.tsx"

/** `spent_usd`, `held_usd` and `include_byok`: of budgets that have them. */
export type Budget = {
  limit_usd: number
  reset_interval: string | null
  spent_usd?: number
  held_usd?: number
  include_byok?: boolean
}

const INTERVALS = ["daily", "weekly", "monthly", "lifetime"] as const

type Props = {
  budgets: readonly Budget[]
  /** Where the budget of an interval is set and removed. */
  pathOf: (interval: string) => string
  isEditable: boolean
  /** Each budget has its own setting for BYOK calls. */
  hasByok?: boolean
  onChange: () => void
}

/** Budgets of a workspace or provider, shortest window first, each with its spend. */
export function BudgetStrip({ budgets, pathOf, isEditable, hasByok = false, onChange }: Props) {
  const [edited, setEdited] = useState<string>()
  const byInterval = new Map(budgets.map((one) => [one.reset_interval ?? "lifetime", one]))
  return (
    <ul class="budgets" aria-label="Budgets">
      {INTERVALS.map((interval) => (
        <li key={interval}>
          <span class="quiet small">{interval}</span>
          {edited === interval ? (
            <BudgetForm
              path={pathOf(interval)}
              budget={byInterval.get(interval)}
              hasByok={hasByok}
              onDone={() => {
                setEdited(undefined)
                onChange()
              }}
            />
          ) : (
            <>
              <span class="row between nowrap">
                {byInterval.has(interval) ? (
                  <Money value={byInterval.get(interval)?.limit_usd} />
                ) : (
                  <span class="faint">no budget</span>
                )}
                {isEditable && (
                  <Button
                    size="small"
                    kind="quiet"
                    label={`Change the ${interval} budget`}
                    icon="settings"
                    onClick={() => setEdited(interval)}
                  />
                )}
              </span>
              {byInterval.has(interval) && <Use budget={byInterval.get(interval)} interval={interval} />}
            </>
          )}
        </li>
      ))}
    </ul>
  )
}

const WARN_SHARE = 0.8

function Use({ budget, interval }: { budget: Budget | undefined; interval: string }) {
  if (budget?.spent_usd === undefined) return <WindowStrip interval={interval} />
  const { limit_usd: max, spent_usd: spent, held_usd: held = 0, include_byok: hasByok } = budget
  const spending = `${usd(spent)} spent${held > 0 ? `, ${usd(held)} held` : ""}`
  return (
    <>
      <Meter
        value={spent}
        held={held}
        max={max}
        tone={spent + held >= max ? "bad" : spent + held >= max * WARN_SHARE ? "warn" : undefined}
        label={spending}
      />
      {/* As wide as the meter: spend that is ahead of the time is visible. */}
      <WindowStrip interval={interval} />
      <span class="quiet small">
        {spending}
        {hasByok && ", BYOK included"}
      </span>
      <span class="quiet small">
        <Reset interval={interval} />
      </span>
    </>
  )
}

type FormProps = { path: string; budget: Budget | undefined; hasByok: boolean; onDone: () => void }

function BudgetForm({ path, budget, hasByok, onDone }: FormProps) {
  const [text, setText] = useState(budget === undefined ? "" : String(budget.limit_usd))
  const [isByokCounted, setByokCounted] = useState(budget?.include_byok ?? false)
  const { busy, error, submit } = useSubmit(async () => {
    const isRemoved = text.trim() === ""
    const body = { limit_usd: Number(text), ...(hasByok && { include_byok: isByokCounted }) }
    await api(path, isRemoved ? { method: "DELETE" } : { method: "PUT", body })
    toast("good", isRemoved ? "The budget is removed" : "The budget is set")
    onDone()
  })
  return (
    <form class="stack tight" onSubmit={submit}>
      <TextField
        label="USD"
        fault={error?.message}
        hint="Empty removes it."
        type="number"
        min={0}
        step="any"
        value={text}
        onChange={setText}
        autoFocus
      />
      {hasByok && (
        <Check
          label="Count calls with your own provider keys (BYOK)"
          checked={isByokCounted}
          onChange={setByokCounted}
        />
      )}
      <div class="row">
        <Button type="submit" size="small" kind="primary" busy={busy}>
          Set
        </Button>
        <Button size="small" onClick={onDone}>
          Cancel
        </Button>
      </div>
    </form>
  )
}
