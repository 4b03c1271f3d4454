import { useState } from "preact/hooks"
import { changesOf } from "../../api/changes.ts"
import { api, ApiError } from "../../api/client.ts"
import { invalidate } from "../../api/query.ts"
import type { ApiKey } from "../../api/types.ts"
import { workspaceId } from "../../state/session.ts"
import { toast } from "../../state/toasts.ts"
import { Button } from "../../ui/button.tsx"
import { Code } from "../../ui/text/code.tsx"
import { Dialog } from "../../ui/dialog.tsx"
import { Check, Select, TextField } from "../../ui/field.tsx"
import { ErrorPanel } from "../../ui/states.tsx"
import { ConnectAgent } from "./connect-agent.tsx"
import { increaseChange, increaseFault, IncreaseFields, increaseOf } from "./limit-increase.tsx"
import { LimitPreview } from "./limit-preview.tsx"
import { EMPTY_LIST, readList, toListText } from "../../format/list.ts"

const RESETS = [
  { value: "", label: "never: lifetime limit" },
  { value: "daily", label: "daily, 00:00 UTC" },
  { value: "weekly", label: "weekly, Monday 00:00 UTC" },
  { value: "monthly", label: "monthly, the 1st, 00:00 UTC" },
]

const RATES = [
  { name: "requests_per_minute", label: "Requests per minute" },
  { name: "tokens_per_minute", label: "Tokens per minute", hint: "Prompt and completion" },
  { name: "concurrent_requests", label: "Concurrent requests" },
] as const
type Rates = Record<(typeof RATES)[number]["name"], string>

export type KeyInput = { name: string; limit: string; reset: string; byok: boolean; rates: Rates; cheaper: string }

export function inputOf(key: ApiKey | undefined): KeyInput {
  return {
    name: key?.name ?? "",
    limit: key?.limit === null || key === undefined ? "" : String(key.limit),
    reset: key?.limit_reset ?? "",
    byok: key?.include_byok_in_limit ?? false,
    rates: ratesOf((name) => String(key?.[name] ?? "")),
    cheaper: toListText(key?.over_budget_models ?? null),
  }
}

function ratesOf<T>(value: (name: keyof Rates) => T): Record<keyof Rates, T> {
  return {
    requests_per_minute: value("requests_per_minute"),
    tokens_per_minute: value("tokens_per_minute"),
    concurrent_requests: value("concurrent_requests"),
  }
}

function rateFault(value: string): string | undefined {
  return value === "" || /^[1-9]\d{0,8}$/.test(value) ? undefined : "must be a whole number from 1"
}

function faultsOf({ name, limit, rates }: KeyInput): { name?: string; limit?: string; rates?: string } {
  const amount = Number(limit)
  return {
    ...(name.trim() === "" && { name: "must not be empty" }),
    ...(RATES.some((rate) => rateFault(rates[rate.name]) !== undefined) && { rates: "must be whole numbers from 1" }),
    ...(limit !== "" && !(amount >= 0 && amount <= 1_000_000) && { limit: "must be from 0 to 1000000 USD" }),
  }
}

function toBody({ name, limit, reset, byok, rates, cheaper }: KeyInput) {
  return {
    name: name.trim(),
    limit: limit === "" ? null : Number(limit),
    limit_reset: limit === "" || reset === "" ? null : reset,
    include_byok_in_limit: byok,
    over_budget_models: readList(cheaper),
    ...ratesOf((rate) => (rates[rate] === "" ? null : Number(rates[rate]))),
  }
}

function Fields({ input, onChange }: { input: KeyInput; onChange: (input: KeyInput) => void }) {
  const faults = input.name === "" && input.limit === "" ? {} : faultsOf(input)
  return (
    <>
      <TextField
        label="Name"
        value={input.name}
        onChange={(name) => onChange({ ...input, name })}
        fault={faults.name}
        required
        autoFocus
        placeholder="App or person that uses it"
      />
      <TextField
        label="Limit, USD"
        type="number"
        min={0}
        step="any"
        placeholder="no limit"
        value={input.limit}
        onChange={(limit) => onChange({ ...input, limit })}
        fault={faults.limit}
        hint="A call that might exceed it is refused before it is sent"
      />
      {input.limit !== "" && (
        <>
          <Select
            label="Limit resets"
            value={input.reset}
            onChange={(reset) => onChange({ ...input, reset })}
            options={RESETS}
          />
          <Check
            label="Count calls with your own provider keys (BYOK)"
            checked={input.byok}
            onChange={(byok) => onChange({ ...input, byok })}
          />
        </>
      )}
      <TextField
        label="Over budget, use"
        placeholder="author/slug, author/slug"
        hint={`Fallback models if a limit refuses the requested one. Empty: those of the workspace. ${EMPTY_LIST}: no other model`}
        value={input.cheaper}
        onChange={(cheaper) => onChange({ ...input, cheaper })}
      />
      <details class="fold" open={RATES.some((rate) => input.rates[rate.name] !== "")}>
        <summary>Rate limits</summary>
        <div class="stack">
          {RATES.map((rate) => (
            <TextField
              key={rate.name}
              label={rate.label}
              type="number"
              min={1}
              step={1}
              placeholder="no limit"
              value={input.rates[rate.name]}
              onChange={(value) => onChange({ ...input, rates: { ...input.rates, [rate.name]: value } })}
              fault={rateFault(input.rates[rate.name])}
              {...("hint" in rate && { hint: rate.hint })}
            />
          ))}
        </div>
      </details>
    </>
  )
}

const EXPIRIES = [
  { value: "", label: "never" },
  { value: "1", label: "in a day" },
  { value: "30", label: "in 30 days" },
  { value: "90", label: "in 90 days" },
  { value: "365", label: "in a year" },
]
const KINDS = [
  { value: "normal", label: "normal: makes calls" },
  { value: "provisioning", label: "provisioning: creates and changes keys" },
  { value: "management", label: "management: everything in the organization" },
]
const DAY_MS = 86_400_000

/** `template`: the key whose name, limit and kind the new one gets. */
export function NewKeyDialog({ template, onClose }: { template?: ApiKey; onClose: (isCreated: boolean) => void }) {
  const [input, setInput] = useState(inputOf(template))
  const [kind, setKind] = useState<string>(template?.kind ?? "normal")
  const [days, setDays] = useState("")
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<ApiError>()
  const [secret, setSecret] = useState<string>()
  const create = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    try {
      const expiresAt = days === "" ? {} : { expires_at: new Date(Date.now() + Number(days) * DAY_MS).toISOString() }
      const workspace_id = template?.workspace_id ?? workspaceId.value
      const workspace = workspace_id === null ? {} : { workspace_id }
      const body = { ...toBody(input), kind, ...expiresAt, ...workspace }
      const { key } = await api<{ key: string }>("/keys", { method: "POST", body })
      setSecret(key)
      invalidate("/keys")
    } catch (thrown) {
      setError(ApiError.fromThrown(thrown))
      // It may have been created, and only the response was lost.
      invalidate("/keys")
    }
    setBusy(false)
  }
  if (secret !== undefined)
    return (
      <NewKeySecret secret={secret} name={input.name} isForCalls={kind === "normal"} onClose={() => onClose(true)} />
    )
  return (
    <Dialog title="Create a key" onClose={() => onClose(false)} staysOpen={busy}>
      <form class="stack bare" onSubmit={(event) => void create(event)}>
        <Fields input={input} onChange={setInput} />
        <Select label="Kind" value={kind} onChange={setKind} options={KINDS} />
        <Select label="Expires" value={days} onChange={setDays} options={EXPIRIES} />
        {error && <ErrorPanel error={error} />}
        <footer>
          <Button disabled={busy} onClick={() => onClose(false)}>
            Cancel
          </Button>
          <Button type="submit" kind="primary" busy={busy} disabled={Object.keys(faultsOf(input)).length > 0}>
            Create the key
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

type NewSecret = { secret: string; name: string; isForCalls: boolean; onClose: () => void }

function NewKeySecret({ secret, name, isForCalls, onClose }: NewSecret) {
  return (
    <Dialog title={`Key “${name}”`} onClose={onClose} wide staysOpen>
      <p>Copy it now: the gateway keeps only its hash and cannot show it again.</p>
      <Code text={secret} label="The new key" wrap />
      {isForCalls && (
        <details class="fold" open>
          <summary>Connect an agent</summary>
          <ConnectAgent secret={secret} />
        </details>
      )}
      <details class="fold" open>
        <summary>Use it in a client</summary>
        <Code
          label="Environment of a client"
          text={`export OPENAI_BASE_URL=${location.origin}/api/v1\nexport OPENAI_API_KEY=${secret}`}
        />
      </details>
      <footer>
        <Button kind="primary" onClick={onClose}>
          I have copied it
        </Button>
      </footer>
    </Dialog>
  )
}

export function EditKeyDialog({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const [shown] = useState(apiKey)
  const [input, setInput] = useState(inputOf(shown))
  const [increase, setIncrease] = useState(increaseOf(shown))
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<ApiError>()
  // Without a limit, there is no field for the increase.
  const isIncreaseValid = input.limit === "" || increaseFault(increase) === undefined
  const isValid = Object.keys(faultsOf(input)).length === 0 && isIncreaseValid
  const save = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    try {
      const ofIncrease = input.limit === "" ? {} : increaseChange(shown, increase)
      const body = { ...changesOf(toBody(inputOf(shown)), toBody(input)), ...ofIncrease }
      await api(`/keys/${apiKey.hash}`, { method: "PATCH", body })
      invalidate("/keys")
      toast("good", `The key “${input.name}” is saved. Its limit applies from the next call.`)
      onClose()
    } catch (thrown) {
      setError(ApiError.fromThrown(thrown))
      setBusy(false)
    }
  }
  return (
    <Dialog title={`Edit “${apiKey.name}”`} onClose={onClose} staysOpen={busy}>
      <form class="stack bare" onSubmit={(event) => void save(event)}>
        <Fields input={input} onChange={setInput} />
        {input.limit !== "" && <IncreaseFields apiKey={shown} input={increase} onChange={setIncrease} />}
        <LimitPreview apiKey={shown} input={input} />
        {error && <ErrorPanel error={error} />}
        <footer>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={busy} disabled={!isValid}>
            Save
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
