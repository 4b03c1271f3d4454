import { useRef } from "preact/hooks"
import type { Model } from "../../api/types.ts"
import { toast } from "../../state/toasts.ts"
import { Button } from "../../ui/button.tsx"
import { faultsOf } from "./request.ts"
import { columns, draft, fault, images, running, send, settings } from "./state.ts"

const MAX_IMAGE_BYTES = 4_000_000

async function readImage(file: File): Promise<void> {
  if (file.size > MAX_IMAGE_BYTES) {
    toast("bad", `${file.name} is larger than 4 MB. Choose a smaller image.`)
    return
  }
  const reader = new FileReader()
  reader.addEventListener("load", () => {
    if (typeof reader.result === "string") images.value = [...images.value, reader.result]
  })
  reader.readAsDataURL(file)
}

export function Composer({ models }: { models: ReadonlyMap<string, Model> }) {
  const input = useRef<HTMLTextAreaElement>(null)
  const file = useRef<HTMLInputElement>(null)
  const submit = (event: Event) => {
    event.preventDefault()
    void send(models)
    input.current?.focus()
  }
  const takesImages = columns.value.some(({ model }) =>
    models.get(model.value)?.architecture.input_modalities.includes("image"),
  )
  const [problem] = Object.entries(faultsOf(settings.value))
  return (
    <form class="composer" onSubmit={submit}>
      {images.value.length > 0 && (
        <div class="row tight">
          {images.value.map((url, index) => (
            <button
              type="button"
              key={index}
              class="thumb-button"
              aria-label={`Remove image ${index + 1}`}
              onClick={() => (images.value = images.value.filter((_, other) => other !== index))}
            >
              <img src={url} alt="" class="thumb" />
            </button>
          ))}
        </div>
      )}
      <textarea
        ref={input}
        class="input"
        rows={1}
        dir="auto"
        aria-label="Message"
        placeholder={columns.value.length > 1 ? `Message to ${columns.value.length} models` : "Message"}
        autoFocus
        value={draft.value}
        onInput={(event) => (draft.value = event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && !event.shiftKey && !event.isComposing) submit(event)
        }}
      />
      <div class="row">
        {takesImages && (
          <>
            <input
              ref={file}
              type="file"
              accept="image/*"
              hidden
              onChange={(event) => {
                for (const each of event.currentTarget.files ?? []) void readImage(each)
                // The same file may be chosen again.
                event.currentTarget.value = ""
              }}
            />
            <Button size="small" kind="quiet" icon="plus" onClick={() => file.current?.click()}>
              Image
            </Button>
          </>
        )}
        <span class="small quiet grow">
          {problem ? (
            <span role="alert">
              Correct the request first: {problem[0]} {problem[1]}
            </span>
          ) : fault.value === null ? (
            <span class="only-wide">
              <kbd>Enter</kbd> sends, <kbd>Shift</kbd> <kbd>Enter</kbd> breaks the line
            </span>
          ) : (
            <>
              The next call goes to <code>{fault.value}</code>
            </>
          )}
        </span>
        {running.value ? (
          <Button icon="stop" onClick={() => running.value?.abort()}>
            Stop
          </Button>
        ) : (
          <Button
            type="submit"
            kind="primary"
            icon="send"
            disabled={draft.value.trim() === "" || columns.value.length === 0 || problem !== undefined}
          >
            Send
          </Button>
        )}
      </div>
    </form>
  )
}
