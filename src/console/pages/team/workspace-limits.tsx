import { useEffect, useState } from "preact/hooks"
import { changesOf } from "../../api/changes.ts"
import { api } from "../../api/client.ts"
import { invalidate } from "../../api/query.ts"
import type { Workspace } from "../../api/types.ts"
import { attempt } from "../../state/toasts.ts"
import { readList, toListText } from "../../format/list.ts"
import { Button } from "../../ui/button.tsx"
import { TextField } from "../../ui/field.tsx"

const NUMBERS = [
  { name: "requests_per_minute", label: "Requests per minute", max: 1_000_000_000 },
  { name: "tokens_per_minute", label: "Tokens per minute", max: 1_000_000_000 },
  { name: "concurrent_requests", label: "Concurrent requests", max: 1_000_000_000 },
  { name: "response_cache_seconds", label: "Cache responses, seconds", max: 604_800 },
] as const
type NumberName = (typeof NUMBERS)[number]["name"]

type Input = Record<NumberName, string> & { models: string }

const inputOf = (workspace: Workspace): Input => ({
  requests_per_minute: String(workspace.requests_per_minute ?? ""),
  tokens_per_minute: String(workspace.tokens_per_minute ?? ""),
  concurrent_requests: String(workspace.concurrent_requests ?? ""),
  response_cache_seconds: String(workspace.response_cache_seconds ?? ""),
  models: toListText(workspace.over_budget_models ?? null),
})

function faultOf(value: string, max: number): string | undefined {
  const isValid = /^[1-9]\d*$/.test(value) && Number(value) <= max
  return value === "" || isValid ? undefined : `must be a whole number from 1 to ${max}`
}

function toBody({ models, ...numbers }: Input) {
  const entries = NUMBERS.map(({ name }) => [name, numbers[name] === "" ? null : Number(numbers[name])])
  return { ...Object.fromEntries(entries), over_budget_models: readList(models) }
}

/** Rate limits, the response cache and the models to try over budget, of all keys of a workspace together. */
export function WorkspaceLimits({ workspace }: { workspace: Workspace }) {
  const path = `/workspaces/${workspace.id}`
  const [edits, setEdits] = useState<Partial<Input>>({})
  const input = { ...inputOf(workspace), ...edits }
  const edit = (change: Partial<Input>) => setEdits((before) => ({ ...before, ...change }))
  // Edits that are saved follow later changes of others again.
  useEffect(() => setEdits((before) => changesOf<Partial<Input>>(inputOf(workspace), before)), [workspace])
  const isFaulty = NUMBERS.some(({ name, max }) => faultOf(input[name], max) !== undefined)
  const save = async (event: Event) => {
    event.preventDefault()
    const body = changesOf(toBody(inputOf(workspace)), toBody(input))
    if (!(await attempt(() => api(path, { method: "PATCH", body }), "The limits apply from the next call"))) return
    invalidate("/workspaces")
  }
  const purge = () =>
    attempt(() => api(`${path}/response-cache`, { method: "DELETE" }), "The cached responses are deleted")
  return (
    <details class="fold">
      <summary>Rate limits, response cache, over budget</summary>
      <form class="stack" onSubmit={(event) => void save(event)}>
        <div class="limits">
          {NUMBERS.map(({ name, label, max }) => (
            <TextField
              key={name}
              label={label}
              type="number"
              min={1}
              step={1}
              placeholder={name === "response_cache_seconds" ? "only on request" : "no limit"}
              value={input[name]}
              onChange={(value) => edit({ [name]: value })}
              fault={faultOf(input[name], max)}
            />
          ))}
        </div>
        <TextField
          label="Over budget, use"
          placeholder="author/slug, author/slug"
          hint="Fallback models, in order, if a budget, a limit or the balance refuses the requested one"
          value={input.models}
          onChange={(models) => edit({ models })}
        />
        <div class="row">
          <Button type="submit" size="small" kind="primary" disabled={isFaulty}>
            Save
          </Button>
          <Button size="small" onClick={() => purge()}>
            Delete cached responses
          </Button>
        </div>
      </form>
    </details>
  )
}
