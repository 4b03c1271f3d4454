import { dismiss, toasts } from "../state/toasts.ts"
import { Button } from "./button.tsx"
import { Status } from "./status.tsx"

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, tone, text, action }) => (
        <div key={id} class="toast">
          <div class="grow">
            <Status tone={tone}>
              <span class="toast-text">{text}</span>
            </Status>
          </div>
          {action && (
            <Button
              size="small"
              onClick={() => {
                action.run()
                dismiss(id)
              }}
            >
              {action.label}
            </Button>
          )}
          <Button size="small" kind="quiet" icon="close" label="Dismiss" onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  )
}
