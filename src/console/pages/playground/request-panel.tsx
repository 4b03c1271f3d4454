import { useAll } from "../../api/pages.ts"
import type { Model } from "../../api/types.ts"
import { may } from "../../state/session.ts"
import { Check, Select, TextArea, TextField } from "../../ui/field.tsx"
import type { Fault } from "./faults.ts"
import { faultsOf } from "./request.ts"
import { columns, fault, setSetting, settings } from "./state.ts"

type Preset = { slug: string; name: string }

/** Whether every chosen model takes a parameter. */
function supports(models: ReadonlyMap<string, Model>, parameter: string): boolean {
  return columns.value.every(({ model }) => models.get(model.value)?.supported_parameters.includes(parameter) ?? true)
}

export function RequestPanel({ models, faults }: { models: ReadonlyMap<string, Model>; faults: readonly Fault[] }) {
  const presets = useAll<Preset>(may("presets:read") ? "/presets" : null)
  return (
    <aside class="request" aria-label="Request">
      <TextArea
        label="System"
        rows={3}
        value={settings.value.system}
        onChange={(value) => setSetting("system", value)}
        placeholder="Instructions"
      />
      <Parameters models={models} />
      {(presets.data?.data.length ?? 0) > 0 && (
        <Select
          label="Preset"
          value={settings.value.preset}
          onChange={(value) => setSetting("preset", value)}
          options={[
            { value: "", label: "none" },
            ...(presets.data?.data ?? []).map(({ slug, name }) => ({ value: slug, label: name })),
          ]}
        />
      )}
      <JsonSections />
      <Routing />
      {faults.length > 0 && (
        <Select
          label="Simulate a fault"
          hint="The next call returns the fault instead of the model's response"
          value={fault.value ?? ""}
          onChange={(value) => (fault.value = value === "" ? null : value)}
          options={[{ value: "", label: "no fault" }, ...faults.map(({ model, label }) => ({ value: model, label }))]}
        />
      )}
    </aside>
  )
}

type TextSetting = "temperature" | "topP" | "maxTokens" | "seed" | "stop" | "only" | "fallbacks"

function field(name: TextSetting) {
  return {
    value: settings.value[name],
    onChange: (value: string) => setSetting(name, value),
    fault: faultsOf(settings.value)[name],
  }
}

function Parameters({ models }: { models: ReadonlyMap<string, Model> }) {
  const hint = (parameter: string, text: string) =>
    supports(models, parameter) ? text : "Not supported by a chosen model"
  return (
    <Section title="Parameters" isOpen>
      <div class="pair">
        <TextField
          label="Temperature"
          type="number"
          min={0}
          max={2}
          step={0.1}
          placeholder="default"
          {...field("temperature")}
          hint={hint("temperature", "0 to 2")}
        />
        <TextField
          label="Top p"
          type="number"
          min={0}
          max={1}
          step={0.05}
          placeholder="default"
          {...field("topP")}
          hint={hint("top_p", "0 to 1")}
        />
        <TextField
          label="Max tokens"
          type="number"
          min={1}
          placeholder="model's limit"
          {...field("maxTokens")}
          hint={hint("max_tokens", "limits the hold")}
        />
        <TextField label="Seed" type="number" placeholder="none" {...field("seed")} hint={hint("seed", "integer")} />
      </div>
      <TextField label="Stop" placeholder="none" {...field("stop")} hint="Texts, separated by commas" />
      <Select
        label="Reasoning effort"
        value={settings.value.effort}
        onChange={(value) => setSetting("effort", value)}
        options={["", "minimal", "low", "medium", "high"].map((value) => ({ value, label: value || "default" }))}
      />
    </Section>
  )
}

function JsonSections() {
  const problems = faultsOf(settings.value)
  return (
    <>
      <Section title="Tools" isOpen={settings.value.tools !== ""}>
        <TextArea
          label="Tools, as JSON"
          code
          rows={6}
          value={settings.value.tools}
          onChange={(value) => setSetting("tools", value)}
          fault={problems.tools}
          placeholder={TOOL_EXAMPLE}
        />
        {settings.value.tools === "" && (
          <button type="button" class="button small" onClick={() => setSetting("tools", TOOL_EXAMPLE)}>
            Use the example
          </button>
        )}
      </Section>
      <Section title="Structured output" isOpen={settings.value.schema !== ""}>
        <TextArea
          label="JSON Schema of the response"
          code
          rows={6}
          value={settings.value.schema}
          onChange={(value) => setSetting("schema", value)}
          fault={problems.schema}
          placeholder={SCHEMA_EXAMPLE}
        />
        {settings.value.schema === "" && (
          <button type="button" class="button small" onClick={() => setSetting("schema", SCHEMA_EXAMPLE)}>
            Use the example
          </button>
        )}
      </Section>
    </>
  )
}

function Routing() {
  return (
    <Section title="Routing" isOpen={settings.value.fallbacks + settings.value.only + settings.value.sort !== ""}>
      <TextField label="Fallback models" placeholder="none" {...field("fallbacks")} hint="Names, separated by commas" />
      <TextField label="Allowed providers" placeholder="any" {...field("only")} hint="Slugs, separated by commas" />
      <Select
        label="Order of providers"
        value={settings.value.sort}
        onChange={(value) => setSetting("sort", value)}
        options={["", "price", "latency", "throughput"].map((value) => ({ value, label: value || "default" }))}
      />
      <Check
        label="Zero data retention only"
        checked={settings.value.zdr}
        onChange={(value) => setSetting("zdr", value)}
      />
    </Section>
  )
}

function Section({ title, isOpen, children }: { title: string; isOpen?: boolean; children: preact.ComponentChildren }) {
  return (
    <details class="fold" open={isOpen}>
      <summary>{title}</summary>
      <div class="stack">{children}</div>
    </details>
  )
}

const TOOL_EXAMPLE = JSON.stringify(
  [
    {
      type: "function",
      function: {
        name: "get_weather",
        description: "The weather in a city.",
        parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
      },
    },
  ],
  null,
  2,
)
const SCHEMA_EXAMPLE = JSON.stringify(
  {
    type: "object",
    properties: { title: { type: "string" }, year: { type: "integer" } },
    required: ["title", "year"],
    additionalProperties: false,
  },
  null,
  2,
)
