import { useState } from "preact/hooks"
import { Button } from "../button.tsx"
import { useSubmit } from "../hooks/use-submit.ts"

type Props = {
  /** Name of the edited field: `name`. */
  label: string
  value: string
  isEditable: boolean
  maxLength?: number
  onSave: (value: string) => Promise<void>
}

/** A text that is edited where it is read: Enter saves, Esc leaves it. */
export function InlineText({ label, value, isEditable, maxLength = 128, onSave }: Props) {
  const [draft, setDraft] = useState<string | null>(null)
  const { busy, error, submit } = useSubmit(async () => {
    const text = draft?.trim() ?? ""
    if (text !== value) await onSave(text)
    setDraft(null)
  })
  if (draft === null)
    return (
      <span class="row tight nowrap inline-text">
        <span class="truncate" dir="auto">
          {value}
        </span>
        {isEditable && (
          <Button
            size="small"
            kind="quiet"
            icon="pencil"
            label={`Change the ${label}`}
            onClick={() => setDraft(value)}
          />
        )}
      </span>
    )
  return (
    <form
      class="row tight inline-text"
      onSubmit={submit}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return
        event.stopPropagation()
        setDraft(null)
      }}
    >
      <input
        class="input"
        aria-label={label}
        aria-invalid={error !== undefined && error !== null}
        value={draft}
        onInput={({ currentTarget }) => setDraft(currentTarget.value)}
        maxLength={maxLength}
        autocomplete="off"
        required
        autoFocus
      />
      <Button type="submit" size="small" kind="primary" busy={busy} disabled={draft.trim() === ""}>
        Save
      </Button>
      <Button size="small" kind="quiet" onClick={() => setDraft(null)}>
        Cancel
      </Button>
      {error && (
        <span class="fault" role="alert">
          {error.message}
        </span>
      )}
    </form>
  )
}
