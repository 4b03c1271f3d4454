import { Button } from "../../ui/button.tsx"
import { Check, Select, TextArea, TextField } from "../../ui/field.tsx"
import { EMPTY_LIST } from "../../format/list.ts"
import { Checks } from "./checks.tsx"
import { DETECTORS, type Draft, type Filter, toCounted } from "./draft.ts"

type Props = { draft: Draft; onChange: (draft: Draft) => void }

const ACTIONS = [
  { value: "off", label: "Off" },
  { value: "flag", label: "Flag" },
  { value: "redact", label: "Redact" },
  { value: "block", label: "Block" },
]

export function Rules({ draft, onChange }: Props) {
  const set = (change: Partial<Draft>) => onChange({ ...draft, ...change })
  return (
    <div class="stack wide">
      <section class="stack" aria-label="Content">
        <h2>Content</h2>
        <Detectors draft={draft} onChange={onChange} />
        <Patterns draft={draft} onChange={onChange} />
        <Checks draft={draft} onChange={onChange} />
      </section>
      <section class="stack" aria-label="Models and providers">
        <h2>Models and providers</h2>
        <div class="pairs">
          <TextArea
            label="Allowed models"
            hint="One per line; author/* for all of an author. Empty: any."
            rows={2}
            code
            value={draft.allowedModels}
            onChange={(allowedModels) => set({ allowedModels })}
          />
          <TextArea
            label="Ignored models"
            rows={2}
            code
            value={draft.ignoredModels}
            onChange={(ignoredModels) => set({ ignoredModels })}
          />
          <TextArea
            label="Allowed providers"
            rows={2}
            code
            value={draft.allowedProviders}
            onChange={(allowedProviders) => set({ allowedProviders })}
          />
          <TextArea
            label="Ignored providers"
            rows={2}
            code
            value={draft.ignoredProviders}
            onChange={(ignoredProviders) => set({ ignoredProviders })}
          />
          <TextArea
            label="Allowed MCP tools"
            hint={`One per line; server/tool, or server/* for all tools of a server. Empty: any. ${EMPTY_LIST}: no tool.`}
            rows={2}
            code
            value={draft.mcpTools}
            onChange={(mcpTools) => set({ mcpTools })}
          />
        </div>
      </section>
      <Limits draft={draft} onChange={onChange} />
    </div>
  )
}

/** Budget and rate limits. */
function Limits({ draft, onChange }: Props) {
  const set = (change: Partial<Draft>) => onChange({ ...draft, ...change })
  const counted = { key: "key and member", end_user: "end user", metadata: "metadata value" }[draft.counted]
  return (
    <>
      <section class="stack" aria-label="Budget">
        <h2>{`Budget per ${counted}`}</h2>
        <div class="pairs">
          <TextField
            label="USD"
            type="number"
            min={0}
            step="any"
            hint="Empty: no budget."
            value={draft.limit}
            onChange={(limit) => set({ limit })}
          />
          <Select
            label="Resets"
            options={["daily", "weekly", "monthly"].map((value) => ({ value, label: value }))}
            value={draft.interval}
            onChange={(interval) => set({ interval })}
          />
        </div>
        <Check
          label="Count calls with your own provider keys (BYOK)"
          checked={draft.includesByok}
          onChange={(includesByok) => set({ includesByok })}
        />
        <div class="pairs">
          <Select
            label="Budget and rate limits count"
            options={COUNTED}
            value={draft.counted}
            onChange={(value) => set({ counted: toCounted(value) })}
          />
          {draft.counted === "metadata" && (
            <TextField
              label="Metadata field"
              code
              required
              hint="Requests without it count together."
              value={draft.metadataField}
              onChange={(metadataField) => set({ metadataField })}
            />
          )}
        </div>
      </section>
      <section class="stack" aria-label="Rate limits">
        <h2>{`Rate limits per ${counted}`}</h2>
        <div class="pairs">
          {RATES.map(({ field, label }) => (
            <TextField
              key={field}
              label={label}
              type="number"
              min={1}
              step={1}
              placeholder="no limit"
              value={draft[field]}
              onChange={(value) => set({ [field]: value })}
            />
          ))}
        </div>
      </section>
    </>
  )
}

const COUNTED = [
  { value: "key", label: "each key and member" },
  { value: "end_user", label: "each end user (user of the request)" },
  { value: "metadata", label: "each value of a metadata field" },
] as const

const RATES = [
  { field: "requests", label: "Requests per minute" },
  { field: "tokens", label: "Tokens per minute" },
  { field: "concurrent", label: "Concurrent requests" },
] as const

function Detectors({ draft, onChange }: Props) {
  const choose = (slug: string, value: string) => {
    const { [slug]: _, ...others } = draft.builtins
    const action = value === "flag" || value === "redact" || value === "block" ? value : undefined
    onChange({ ...draft, builtins: action ? { ...others, [slug]: action } : others })
  }
  return (
    <div class="detectors">
      {DETECTORS.map(({ slug, name }) => (
        <Select
          key={slug}
          label={name}
          options={ACTIONS}
          value={draft.builtins[slug] ?? "off"}
          onChange={(value) => choose(slug, value)}
        />
      ))}
    </div>
  )
}

function Patterns({ draft, onChange }: Props) {
  const set = (at: number, change: Partial<Filter>) =>
    onChange({
      ...draft,
      filters: draft.filters.map((filter, index) => (index === at ? { ...filter, ...change } : filter)),
    })
  const remove = (at: number) => onChange({ ...draft, filters: draft.filters.filter((_, index) => index !== at) })
  const add = () => onChange({ ...draft, filters: [...draft.filters, { action: "redact", label: null, pattern: "" }] })
  return (
    <div class="stack tight">
      {draft.filters.map((filter, at) => (
        <div key={at} class="pattern">
          <TextField
            label={`Pattern ${at + 1}`}
            placeholder="Regular expression (RE2)"
            code
            value={filter.pattern}
            onChange={(pattern) => set(at, { pattern })}
          />
          <Select
            label="Action"
            options={ACTIONS.slice(1)}
            value={filter.action}
            onChange={(value) => set(at, { action: value === "block" || value === "flag" ? value : "redact" })}
          />
          <TextField
            label="Label"
            placeholder="[REDACTED]"
            value={filter.label ?? ""}
            onChange={(label) => set(at, { label: label === "" ? null : label })}
          />
          <Button kind="quiet" icon="trash" label={`Remove pattern ${at + 1}`} onClick={() => remove(at)} />
        </div>
      ))}
      <div>
        <Button size="small" icon="plus" onClick={add}>
          Add a pattern
        </Button>
      </div>
    </div>
  )
}
