import type { ComponentChildren } from "preact"
import { useId } from "preact/hooks"
import { Icon } from "./icon.tsx"

type FieldProps = {
  label: ComponentChildren
  hint?: ComponentChildren
  fault?: string | undefined
  children: (control: {
    id: string
    "aria-describedby": string | undefined
    "aria-invalid": boolean
  }) => ComponentChildren
}

/** A control with label, hint and error. */
export function Field({ label, hint, fault, children }: FieldProps) {
  const id = useId()
  const hasNote = fault !== undefined || hint !== undefined
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, "aria-describedby": hasNote ? `${id}-note` : undefined, "aria-invalid": fault !== undefined })}
      {hasNote && (
        <div
          id={`${id}-note`}
          class={fault === undefined ? "hint" : "fault"}
          role={fault === undefined ? undefined : "alert"}
        >
          {fault ?? hint}
        </div>
      )}
    </div>
  )
}

type InputProps = {
  label: ComponentChildren
  hint?: ComponentChildren
  fault?: string | undefined
  value: string
  onChange: (value: string) => void
  type?: "text" | "password" | "number" | "date" | "datetime-local"
  placeholder?: string
  required?: boolean
  autoFocus?: boolean
  spellcheck?: boolean
  autocomplete?: "off" | "current-password"
  min?: number
  max?: number
  step?: number | "any"
  code?: boolean
}

export function TextField({ label, hint, fault, value, onChange, type = "text", code, ...rest }: InputProps) {
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(control) => {
        const attributes = {
          autocomplete: "off",
          ...rest,
          ...control,
          class: `input ${code ? "monospace" : ""}`,
          value,
          onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) => onChange(currentTarget.value),
        }
        // Preact has separate types for each group of inputs.
        if (type === "password") return <input {...attributes} type={type} />
        if (type === "number") return <input {...attributes} type={type} />
        if (type === "date" || type === "datetime-local") return <input {...attributes} type={type} />
        return <input {...attributes} type={type} />
      }}
    </Field>
  )
}

type AreaProps = Pick<InputProps, "label" | "hint" | "fault" | "value" | "onChange"> & {
  rows?: number
  placeholder?: string
  code?: boolean
}

export function TextArea({ label, hint, fault, value, onChange, rows = 4, placeholder, code }: AreaProps) {
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(control) => (
        <textarea
          {...control}
          class={`input ${code ? "monospace" : ""}`}
          rows={rows}
          placeholder={placeholder}
          spellcheck={!code}
          value={value}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      )}
    </Field>
  )
}

export type Option = { value: string; label: string }

/** A value that is not among the options is one: the browser would show the first option in its place. */
export function Options({ options, value: chosen }: { options: readonly Option[]; value: string }) {
  const isOther = !options.some(({ value }) => value === chosen)
  return (isOther ? [...options, { value: chosen, label: chosen }] : options).map(({ value, label }) => (
    <option key={value} value={value}>
      {label}
    </option>
  ))
}

export function Select(props: {
  label: ComponentChildren
  hint?: ComponentChildren
  options: readonly Option[]
  value: string
  onChange: (value: string) => void
}) {
  return (
    <Field label={props.label} hint={props.hint}>
      {(control) => (
        <select
          {...control}
          class="input"
          value={props.value}
          onChange={(event) => props.onChange(event.currentTarget.value)}
        >
          <Options options={props.options} value={props.value} />
        </select>
      )}
    </Field>
  )
}

export function Check(props: { label: ComponentChildren; checked: boolean; onChange: (checked: boolean) => void }) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={props.checked}
        onChange={(event) => props.onChange(event.currentTarget.checked)}
      />
      <span>{props.label}</span>
    </label>
  )
}

/** Filter of a page; `/` focuses it. */
export function Search(props: {
  label: string
  value: string
  onChange: (value: string) => void
  placeholder?: string
}) {
  return (
    <div class="search">
      <Icon name="search" size={14} />
      <input
        type="search"
        class="input"
        data-filter
        aria-label={props.label}
        placeholder={props.placeholder ?? props.label}
        value={props.value}
        onInput={(event) => props.onChange(event.currentTarget.value)}
      />
    </div>
  )
}
