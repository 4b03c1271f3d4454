import { may } from "../../state/session.ts"
import { useState } from "preact/hooks"
import { BASE } from "../../api/client.ts"
import { Button, Segmented } from "../../ui/button.tsx"
import { Code } from "../../ui/text/code.tsx"
import { Dialog } from "../../ui/dialog.tsx"
import { Check, Select } from "../../ui/field.tsx"
import { Time } from "../../ui/values.tsx"
import { conversations, deleteConversations, toLink } from "./history.ts"
import { sampleBody } from "./request.ts"
import { LANGUAGES, snippet, type Language } from "./snippets.ts"
import { columns, draft, open, settings } from "./state.ts"

export function CodeDialog({ onClose }: { onClose: () => void }) {
  const [language, setLanguage] = useState<Language>("curl")
  const [index, setIndex] = useState("0")
  const column = columns.value[Number(index)] ?? columns.value[0]
  if (!column) return null
  const body = sampleBody(column, settings.value, draft.value)
  return (
    <Dialog title="Code of this call" wide onClose={onClose}>
      <div class="row between">
        <Segmented
          label="Language"
          value={language}
          onChange={setLanguage}
          options={LANGUAGES.map(({ id, label }) => ({ value: id, label }))}
        />
      </div>
      {columns.value.length > 1 && (
        <Select
          label="Model"
          value={index}
          onChange={setIndex}
          options={columns.value.map(({ model }, position) => ({ value: String(position), label: model.value }))}
        />
      )}
      <Code text={snippet(language, `${location.origin}${BASE}`, body)} label="Code of the call" />
      <p class="quiet small">
        The key is read from <code>GATEWAY_API_KEY</code>. {may("keys:write") && <a href="/keys?new=1">Create a key</a>}
      </p>
      <footer>
        <Button onClick={onClose}>Close</Button>
      </footer>
    </Dialog>
  )
}

export function ShareDialog({ onClose }: { onClose: () => void }) {
  const [withText, setWithText] = useState(false)
  const text = draft.value || (columns.value[0]?.turns.value.at(-1)?.text ?? "")
  const link = `${location.origin}${toLink(columns.value, settings.value, withText ? text : undefined)}`
  return (
    <Dialog title="Share by link" onClose={onClose}>
      <p class="quiet">
        The link has the models and the settings. It has no key, and opens for people who can sign in here.
      </p>
      <Check label="Include the question" checked={withText} onChange={setWithText} />
      <Code text={link} label="Link" wrap />
      <footer>
        <Button onClick={onClose}>Close</Button>
      </footer>
    </Dialog>
  )
}

export function HistoryDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Conversations of this browser" onClose={onClose}>
      <div class="menu-list">
        {conversations.value.map(({ id, at, columns: stored }) => (
          <button
            type="button"
            key={id}
            onClick={() => {
              open(id)
              onClose()
            }}
          >
            <span class="grow truncate" dir="auto">
              {stored[0]?.turns[0]?.text ?? "Empty"}
            </span>
            <span class="quiet small nowrap">
              {stored.map(({ model }) => model.split("/").at(-1)).join(", ")} · <Time at={at} />
            </span>
          </button>
        ))}
        {conversations.value.length === 0 && (
          <p class="quiet">Conversations appear here after the first answer. They stay in this browser.</p>
        )}
      </div>
      <footer>
        {conversations.value.length > 0 && (
          <Button kind="danger" onClick={deleteConversations}>
            Delete all {conversations.value.length}
          </Button>
        )}
        <Button onClick={onClose}>Close</Button>
      </footer>
    </Dialog>
  )
}
