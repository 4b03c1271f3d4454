import type { ComponentChildren, RefObject } from "preact"
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks"
import { Button } from "./button.tsx"
import { TextField } from "./field.tsx"
import { ErrorPanel } from "./states.tsx"
import { useSubmit } from "./hooks/use-submit.ts"

type Props = {
  title: string
  onClose: () => void
  wide?: boolean
  class?: string
  /** Only its buttons close it: while it saves, or shows what is shown only once. */
  staysOpen?: boolean
  children: ComponentChildren
}

/** Opens a dialog as a modal while its component is shown. */
export function useModal(): RefObject<HTMLDialogElement | null> {
  const element = useRef<HTMLDialogElement>(null)
  // Synchronously: users type while a dialog opens.
  useLayoutEffect(() => {
    const dialog = element.current
    dialog?.showModal()
    return () => dialog?.close()
  }, [])
  return element
}

/** A modal: traps the focus; Escape and a click outside close it. */
export function Dialog({ title, onClose, wide, class: extra, staysOpen = false, children }: Props) {
  const element = useModal()
  const pressed = useRef<EventTarget | null>(null)
  const dismiss = () => {
    if (!staysOpen) onClose()
  }
  const id = useId()
  return (
    <dialog
      ref={element}
      class={extra ?? `dialog ${wide ? "wide" : ""}`}
      aria-labelledby={extra === undefined ? id : undefined}
      aria-label={extra === undefined ? undefined : title}
      onKeyDown={(event) => {
        // Without the key, the browser neither closes the dialog nor shows it again; an open popover still closes.
        if (staysOpen && event.key === "Escape" && !element.current?.querySelector(":popover-open"))
          event.preventDefault()
      }}
      onCancel={(event) => {
        event.preventDefault()
        dismiss()
      }}
      onClose={() => {
        // Browsers close a dialog at the second Escape.
        if (staysOpen) element.current?.showModal()
        else if (element.current) onClose()
      }}
      onPointerDown={({ target }) => {
        pressed.current = target
      }}
      onClick={({ target }) => {
        // A selection of text that ends outside is no click outside.
        if (target === element.current && pressed.current === target) dismiss()
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
  /** Cancel ends the change in progress. */
  isCancellable?: boolean
  onClose: () => void
}

/** Footer of a form in a dialog: error and buttons. */
export function FormEnd(props: FormEndProps) {
  const { fault, action, busy = false, disabled = false, isCancellable = false, onClose } = props
  return (
    <>
      {fault && (
        <div class="notice bad" role="alert">
          {fault}
        </div>
      )}
      <footer>
        <Button disabled={busy && !isCancellable} onClick={onClose}>
          Cancel
        </Button>
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
  const isReady = name === undefined || typed.trim() === name
  const { busy, error, submit } = useSubmit(async () => {
    if (!isReady) return
    await onConfirm()
    onClose()
  })
  return (
    <Dialog title={title} onClose={onCancel} staysOpen={busy}>
      <form class="stack bare" onSubmit={submit}>
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
        {error && <ErrorPanel error={error} />}
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
