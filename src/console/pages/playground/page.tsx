import "./playground.css"
import { useEffect, useMemo, useState } from "preact/hooks"
import { api, ApiError } from "../../api/client.ts"
import { useGet } from "../../api/query.ts"
import type { CallStory, List, Model } from "../../api/types.ts"
import { Page } from "../../shell/page.tsx"
import { loadMarkdown } from "../../ui/text/late-markdown.tsx"
import { navigate, query } from "../../state/router.ts"
import { may } from "../../state/session.ts"
import { toast } from "../../state/toasts.ts"
import { Button } from "../../ui/button.tsx"
import { Menu } from "../../ui/menu.tsx"
import { ModelPicker } from "../../ui/model-picker.tsx"
import { ErrorPanel } from "../../ui/states.tsx"
import { messagesIn } from "../calls/content.ts"
import { VersionDialog } from "../presets/version-dialog.tsx"
import { ColumnView } from "./column.tsx"
import { Composer } from "./composer.tsx"
import { CodeDialog, HistoryDialog, ShareDialog } from "./dialogs.tsx"
import { faultsIn } from "./faults.ts"
import { fromLink } from "./history.ts"
import { changedSettings, NO_SETTINGS, presetOf } from "./request.ts"
import { replayOf } from "./replay.ts"
import { RequestPanel } from "./request-panel.tsx"
import {
  addColumn,
  fault,
  columns,
  draft,
  MAX_COLUMNS,
  newColumn,
  openReplay,
  rememberedModels,
  sendPending,
  settings,
  startOver,
} from "./state.ts"

/** Models with text output, whatever other outputs they have. */
const writesText = ({ architecture }: Model) => architecture.output_modalities.includes("text")

/** Opens the conversation of a call, as far as its content was logged. */
async function openCall(id: string): Promise<void> {
  try {
    const { data } = await api<{ data: CallStory }>(`/calls/${encodeURIComponent(id)}`)
    openReplay(data.requested_model, replayOf(messagesIn(data)))
  } catch (thrown) {
    toast("bad", ApiError.fromThrown(thrown).message)
  }
  navigate("/playground", { replace: true })
}

/** A link may name a call, or set models, settings and a question. */
function openFromUrl(models: readonly Model[]): void {
  const call = query.value.get("call")
  if (call !== null) return void openCall(call)
  const known = new Set(models.map(({ id }) => id))
  const shared = fromLink(query.value.get("s") ?? "")
  const named = query.value.getAll("model")
  if (shared) settings.value = { ...NO_SETTINGS, ...shared.settings }
  const prompt = query.value.get("prompt") ?? shared?.text
  if (prompt !== undefined && prompt !== null) draft.value = prompt
  const wanted = shared?.models ?? (named.length > 0 ? named : null)
  if (wanted) columns.value = wanted.slice(0, MAX_COLUMNS).map(newColumn)
  else if (columns.value.length === 0) {
    const remembered = rememberedModels().filter((id) => known.has(id))
    const first = models.find(({ id }) => id === "embedded/guide") ?? models[0]
    columns.value = (remembered.length > 0 ? remembered : first ? [first.id] : []).map(newColumn)
  }
  if (location.search !== "") navigate("/playground", { replace: true })
  sendPending(new Map(models.map((model) => [model.id, model])))
}

/** Side by side, or in a menu on a narrow screen. */
function Actions({ items }: { items: readonly (readonly [string, () => void])[] }) {
  return (
    <>
      <span class="row only-wide">
        {items.map(([label, run]) => (
          <Button key={label} kind="quiet" onClick={run}>
            {label}
          </Button>
        ))}
      </span>
      <span class="only-narrow">
        <Menu label="More actions" icon="more" kind="quiet">
          {items.map(([label, run]) => (
            <button type="button" key={label} onClick={run}>
              {label}
            </button>
          ))}
        </Menu>
      </span>
    </>
  )
}

/** Saves the first model and the settings as a new preset. */
function SavePreset({ onClose }: { onClose: () => void }) {
  const model = columns.value[0]?.model.value
  return model === undefined ? null : <VersionDialog from={presetOf(model, settings.value)} onClose={onClose} />
}

type OpenDialog = "code" | "share" | "history" | "preset" | null

const PANEL = "console.playground.request"

/** Whether the settings are beside the conversation: the last choice of the user. */
function usePanel(): readonly [boolean, () => void] {
  const [isOpen, setOpen] = useState(() => localStorage.getItem(PANEL) === "open")
  const toggle = () => {
    if (isOpen) localStorage.removeItem(PANEL)
    else localStorage.setItem(PANEL, "open")
    setOpen(!isOpen)
  }
  return [isOpen, toggle]
}

export default function PlaygroundPage() {
  usePrefetch()
  const list = useGet<List<Model>>("/models")
  const [dialog, setDialog] = useState<OpenDialog>(null)
  const [hasPanel, togglePanel] = usePanel()
  const changed = changedSettings(settings.value) + (fault.value === null ? 0 : 1)
  const models = useMemo(() => (list.data?.data ?? []).filter(writesText), [list.data])
  const byId = useMemo(() => new Map(models.map((model) => [model.id, model])), [models])
  const search = query.value.toString()
  useEffect(() => {
    if (models.length > 0) openFromUrl(models)
  }, [models, search])
  const close = () => setDialog(null)
  return (
    <Page
      title="Playground"
      flush
      controls={
        <>
          {columns.value.length < MAX_COLUMNS && (
            <ModelPicker
              models={models}
              value={null}
              label="Compare with another model"
              text="Compare"
              onChoose={addColumn}
            />
          )}
          <Actions
            items={[
              ["History", () => setDialog("history")],
              ["Share", () => setDialog("share")],
              ["Code", () => setDialog("code")],
              ...(may("presets:write") ? [["Save as preset", () => setDialog("preset")] as const] : []),
              ["New", startOver],
            ]}
          />
          <Button aria-pressed={hasPanel} onClick={togglePanel}>
            {changed === 0 ? "Request" : `Request · ${changed} set`}
          </Button>
        </>
      }
    >
      {list.error && <ErrorPanel error={list.error} retry={list.refresh} />}
      <div class={`playground ${hasPanel ? "with-panel" : ""}`}>
        <div class="chat">
          <div class="chat-columns" data-columns={columns.value.length}>
            {columns.value.map((column) => (
              <ColumnView key={column.id} column={column} models={models} byId={byId} />
            ))}
          </div>
          <Composer models={byId} />
        </div>
        {hasPanel && <RequestPanel models={byId} faults={faultsIn(models)} />}
      </div>
      {dialog === "code" && <CodeDialog onClose={close} />}
      {dialog === "share" && <ShareDialog onClose={close} />}
      {dialog === "preset" && <SavePreset onClose={close} />}
      {dialog === "history" && <HistoryDialog onClose={close} />}
    </Page>
  )
}

const SETTLED_MS = 300

/** Loads the code for the first response after the page is shown. */
function usePrefetch(): void {
  useEffect(() => {
    const timer = setTimeout(() => {
      // Until this succeeds, a response is shown as plain text.
      loadMarkdown().catch(() => {})
    }, SETTLED_MS)
    return () => clearTimeout(timer)
  }, [])
}
