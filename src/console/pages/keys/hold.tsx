import { useState } from "preact/hooks"
import { api } from "../../api/client.ts"
import { useGet } from "../../api/query.ts"
import type { ApiKey, Limit, List, Model } from "../../api/types.ts"
import { count, usd } from "../../format/number.ts"
import { Button } from "../../ui/button.tsx"
import { TextArea, TextField } from "../../ui/field.tsx"
import { ModelPicker } from "../../ui/model-picker.tsx"
import { Status } from "../../ui/status.tsx"
import { useSubmit } from "../../ui/hooks/use-submit.ts"
import { Money } from "../../ui/values.tsx"

type Estimate = { hold: number; expected: number; least: number; prompt_tokens: number }

/** Estimated hold of a call, and whether it fits under the limits of this key. */
export function HoldCheck({ apiKey }: { apiKey: ApiKey }) {
  const models = useGet<List<Model>>("/models")
  const limits = useGet<{ data: Limit[] }>(`/keys/${apiKey.hash}/limits`)
  const [model, setModel] = useState<string | null>(null)
  const [prompt, setPrompt] = useState("")
  const [most, setMost] = useState("")
  const messages = [{ role: "user", content: prompt }]
  const body = { model, messages, ...(most !== "" && { max_tokens: Number(most) }) }
  const entered = JSON.stringify(body)
  const [result, setResult] = useState<{ of: string; estimate: Estimate }>()
  const { busy, error, submit } = useSubmit(async () => {
    const { data } = await api<{ data: Estimate }>("/estimate", { method: "POST", body })
    setResult({ of: entered, estimate: data })
  })
  // An estimate of another call would mislead.
  const estimate = result?.of === entered && !error ? result.estimate : undefined
  return (
    <details class="fold">
      <summary>Estimate the hold of a call</summary>
      <form class="box" onSubmit={submit}>
        <div class="pair">
          <div class="field">
            <span class="label">Model</span>
            <ModelPicker models={models.data?.data ?? []} value={model} label="Model of the call" onChoose={setModel} />
          </div>
          <TextField
            label="Max tokens"
            type="number"
            min={1}
            value={most}
            onChange={setMost}
            placeholder="model's limit"
          />
        </div>
        <TextArea label="Prompt" rows={2} value={prompt} onChange={setPrompt} />
        <div class="row">
          <Button type="submit" busy={busy} disabled={model === null || prompt === ""}>
            Estimate
          </Button>
          {estimate && <Outcome estimate={estimate} limits={limits.data?.data} />}
          {error && (
            <span class="status bad" role="alert">
              {error.message}
            </span>
          )}
        </div>
      </form>
    </details>
  )
}

function Outcome({ estimate, limits }: { estimate: Estimate; limits: readonly Limit[] | undefined }) {
  const { hold, expected, prompt_tokens: tokens } = estimate
  const rejecting = limits?.find(({ left }) => left < hold)
  return (
    <span role="status">
      {limits && (
        <Status tone={rejecting ? "bad" : "good"}>
          {rejecting ? `refused: ${nameOf(rejecting)} has ${usd(rejecting.left)} left` : "fits under every limit"}
        </Status>
      )}{" "}
      <span class="quiet">
        holds <Money value={hold} /> for {count(tokens)} tokens of prompt, and probably costs <Money value={expected} />
      </span>
    </span>
  )
}

function nameOf({ kind, name, interval }: Limit): string {
  const subject = kind === "key" ? "the key's limit" : `${kind} ${name ?? ""}`.trim()
  return interval === null ? subject : `${subject} (${interval})`
}
