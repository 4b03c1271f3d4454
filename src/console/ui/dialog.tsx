import type { ComponentChildren } from "preact"
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks"
import { Button } from "./button.tsx"
import { TextField } from "./field.tsx"

type Props = { title: string; onClose: () => void; wide?: boolean; class?: string; children: ComponentChildren }

/** A modal: traps the focus; Escape and a click outside close it. */
export function Dialog({ title, onClose, wide, class: extra, children }: Props) {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  // Synchronously: users type while a dialog opens.
  useLayoutEffect(() => {
    const dialog = element.current
    dialog?.showModal()
    return () => dialog?.close()
  }, [])
  return (
    <dialog
      ref={element}
      class={extra ?? `dialog ${wide ? "wide" : ""}`}
      aria-labelledby={extra === undefined ? id : undefined}
      aria-label={extra === undefined ? undefined : title}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClick={(event) => {
        if (event.target === element.current) onClose()
      }}
    >
      {extra === undefined ? (
        <div class="body">
          <h2 id={id}>{title}</h2>
          {children}
        </div>
      ) : (
        children
      )}
    </dialog>
  )
}

type FormEndProps = {
  /** Error of the form. */
  fault: string | undefined
  action: string
  busy?: boolean
  disabled?: boolean
  onClose: () => void
}

/** Footer of a form in a dialog: error and buttons. */
export function FormEnd({ fault, action, busy = false, disabled = false, onClose }: FormEndProps) {
  return (
    <>
      {fault && (
        <div class="notice bad" role="alert">
          {fault}
        </div>
      )}
      <footer>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" kind="primary" busy={busy} disabled={disabled}>
          {action}
        </Button>
      </footer>
    </>
  )
}

type ConfirmProps = {
  title: string
  /** Effect of the action, with the number of affected objects. */
  children: ComponentChildren
  action: string
  /** Text to type as confirmation if the action cannot be undone. */
  name?: string
  onConfirm: () => Promise<unknown> | void
  onClose: () => void
  /** The action is not destructive. */
  isHarmless?: boolean
  /** Replaces the close action of the cancel button after the action. */
  onCancel?: () => void
}

export function ConfirmDialog(props: ConfirmProps) {
  const { title, children, action, name, onConfirm, onClose, onCancel = onClose } = props
  const [typed, setTyped] = useState("")
  const [busy, setBusy] = useState(false)
  const isReady = name === undefined || typed.trim() === name
  const confirm = async (event: Event) => {
    event.preventDefault()
    if (!isReady) return
    setBusy(true)
    await onConfirm()
    setBusy(false)
    onClose()
  }
  return (
    <Dialog title={title} onClose={onCancel}>
      <form class="stack bare" onSubmit={(event) => void confirm(event)}>
        <div class="stack tight">{children}</div>
        {name !== undefined && (
          <TextField
            label={
              <>
                Type <code>{name}</code> to confirm
              </>
            }
            value={typed}
            onChange={setTyped}
            spellcheck={false}
          />
        )}
        <footer>
          <Button onClick={onCancel}>Cancel</Button>
          <Button
            type="submit"
            kind={props.isHarmless === true ? "primary" : "primary danger"}
            disabled={!isReady}
            busy={busy}
          >
            {action}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
