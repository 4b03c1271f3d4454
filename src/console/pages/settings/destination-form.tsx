import { useState } from "preact/hooks"
import type * as z from "zod"
import type { KindName } from "../../../observability/kinds.ts"
import type { Destination as DestinationSchema } from "../../../observability/schemas.ts"
import { api, ApiError } from "../../api/client.ts"
import { invalidate } from "../../api/query.ts"
import { workspaceId } from "../../state/session.ts"
import { toast } from "../../state/toasts.ts"
import { Dialog, FormEnd } from "../../ui/dialog.tsx"
import { Check, Select, TextArea, TextField } from "../../ui/field.tsx"
import { type ConfigField, DESTINATION_KINDS, readHeaders, writeHeaders } from "./destination-kinds.ts"

export type Destination = z.infer<typeof DestinationSchema>

const PATH = "/observability/destinations"
const OPTIONS = Object.entries(DESTINATION_KINDS).map(([value, { label }]) => ({ value, label }))

const isKind = (value: string): value is KindName => value in DESTINATION_KINDS
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null

/** A destination in the form. Secrets are not returned by the API: an empty field keeps them. */
function draftOf(destination: Destination | undefined, fields: readonly ConfigField[]): Record<string, string> {
  const config = destination?.config ?? {}
  const shown = fields.filter(({ isSecret }) => !isSecret && destination)
  return Object.fromEntries(shown.map(({ name }) => [name, typeof config[name] === "string" ? config[name] : ""]))
}

/** The fields to send: all entered ones of a new destination, otherwise the changed ones. */
function configOf(draft: Readonly<Record<string, string>>, headers: string, before: Destination | undefined) {
  const sent = Object.entries(draft).flatMap(([name, text]): [string, string | null][] => {
    const value = text.trim()
    if (!before) return value === "" ? [] : [[name, value]]
    const old = typeof before.config[name] === "string" ? before.config[name] : ""
    return value === old || (value === "" && old === "") ? [] : [[name, value === "" ? null : value]]
  })
  const parsed = readHeaders(headers)
  const storedHeaders = isObject(before?.config["headers"]) ? before.config["headers"] : {}
  const differs = JSON.stringify(parsed) !== JSON.stringify(storedHeaders)
  return { ...Object.fromEntries(sent), ...(differs && { headers: parsed }) }
}

const isFilled = ({ isOptional, isSecret }: ConfigField, value: string, isKnown: boolean): boolean =>
  isOptional === true || (isSecret === true && isKnown) || value.trim() !== ""

/** Creates or changes a destination. */
export function DestinationForm({ destination, onClose }: { destination?: Destination; onClose: () => void }) {
  const knownType = destination && isKind(destination.type) ? destination.type : undefined
  const [kind, setKind] = useState<KindName>(knownType ?? "otel-collector")
  const { fields } = DESTINATION_KINDS[kind]
  const [name, setName] = useState(destination?.name ?? "")
  const [draft, setDraft] = useState(draftOf(destination, fields))
  const stored = destination?.config["headers"]
  const [headers, setHeaders] = useState(isObject(stored) ? writeHeaders(stored) : "")
  const [isPrivate, setPrivate] = useState(destination?.privacy_mode ?? false)
  const [share, setShare] = useState(String((destination?.sampling_rate ?? 1) * 100))
  const [fault, setFault] = useState<string>()
  const [busy, setBusy] = useState(false)
  const title = destination ? `Edit ${destination.name ?? destination.type}` : "New destination"
  const isComplete =
    name.trim() !== "" && fields.every((field) => isFilled(field, draft[field.name] ?? "", destination !== undefined))
  const save = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    try {
      const shared = {
        name,
        config: configOf(draft, headers, destination),
        privacy_mode: isPrivate,
        sampling_rate: Number(share) / 100,
      }
      if (destination) await api(`${PATH}/${destination.id}`, { method: "PATCH", body: shared })
      else {
        const workspace = workspaceId.value === null ? {} : { workspace_id: workspaceId.value }
        await api(PATH, { method: "POST", body: { type: kind, ...shared, ...workspace } })
      }
      invalidate("/observability")
      toast("good", `${name} is ${destination ? "changed" : "created"}. Send a test call to see whether it works.`)
      onClose()
    } catch (thrown) {
      setFault(ApiError.fromThrown(thrown).message)
      setBusy(false)
    }
  }
  return (
    <Dialog title={title} onClose={onClose} staysOpen={busy}>
      <form class="stack" onSubmit={(event) => void save(event)}>
        {!destination && (
          <Select
            label="Kind"
            options={OPTIONS}
            value={kind}
            onChange={(value) => {
              if (isKind(value)) setKind(value)
              setDraft({})
            }}
          />
        )}
        <TextField label="Name" value={name} onChange={setName} required />
        {fields.map((field) => (
          <ConfigInput
            key={field.name}
            field={field}
            value={draft[field.name] ?? ""}
            mask={destination?.config[field.name]}
            onChange={(value) => setDraft((before) => ({ ...before, [field.name]: value }))}
          />
        ))}
        <details class="fold" open={headers !== ""}>
          <summary>Headers and share of calls</summary>
          <div class="stack">
            <TextArea
              label="Headers"
              hint="One per line. Values are stored encrypted; a masked value is not changed."
              placeholder="authorization: Bearer …"
              code
              rows={3}
              value={headers}
              onChange={setHeaders}
            />
            <TextField
              label="Share of calls, in percent"
              type="number"
              min={0.01}
              max={100}
              step="any"
              value={share}
              onChange={setShare}
              hint="A session is either fully included or not at all."
            />
          </div>
        </details>
        <Check label="Do not send prompts and completions" checked={isPrivate} onChange={setPrivate} />
        <FormEnd
          fault={fault}
          action={destination ? "Save" : "Create destination"}
          busy={busy}
          disabled={!isComplete}
          onClose={onClose}
        />
      </form>
    </Dialog>
  )
}

type InputProps = { field: ConfigField; value: string; mask: unknown; onChange: (value: string) => void }

function ConfigInput({ field, value, mask, onChange }: InputProps) {
  const { label, isSecret, isOptional, placeholder, options } = field
  if (options) {
    return (
      <Select
        label={label}
        value={value || (options[0] ?? "")}
        options={options.map((each) => ({ value: each, label: each }))}
        onChange={onChange}
      />
    )
  }
  const isKept = isSecret && typeof mask === "string"
  return (
    <TextField
      label={isOptional ? `${label} (optional)` : label}
      type={isSecret ? "password" : "text"}
      value={value}
      onChange={onChange}
      required={!isOptional && !isKept}
      {...(isKept
        ? { placeholder: mask, hint: "Leave empty to keep it." }
        : placeholder !== undefined && { placeholder })}
    />
  )
}
