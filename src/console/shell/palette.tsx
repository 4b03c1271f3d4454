import { hasExactAmounts } from "../format/number.ts"
import { matches, termsOf } from "../format/search.ts"
import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import { api } from "../api/client.ts"
import { readAll, readByCursor, useAll } from "../api/pages.ts"
import { useGet, useQuery } from "../api/query.ts"
import type { ApiKey, List, Model } from "../api/types.ts"
import { navigate } from "../state/router.ts"
import { may, signOut } from "../state/session.ts"
import { toggleExactAmounts } from "../state/amounts.ts"
import { theme } from "../state/theme.ts"
import { type ChipKind, hrefOf } from "../ui/chip.tsx"
import { Dialog } from "../ui/dialog.tsx"
import { Icon, type IconName } from "../ui/icon.tsx"
import { visibleEntries } from "./frame.tsx"
import { closeDialog, openHelp } from "./keyboard.ts"

type Item = { kind: string; label: string; detail?: string; icon: IconName; run: () => void }

const MAX_SHOWN = 40

function actions(): Item[] {
  const all: (Item | false)[] = [
    may("keys:write") && { kind: "Action", label: "Create a key", icon: "plus", run: () => navigate("/keys?new=1") },
    may("byok:write") && {
      kind: "Action",
      label: "Add a provider",
      icon: "plus",
      run: () => navigate("/providers?new=1"),
    },
    may("mcp-servers:write") && {
      kind: "Action",
      label: "Add an MCP server",
      icon: "plus",
      run: () => navigate("/mcp-servers?new=1"),
    },
    may("passthrough-services:write") && {
      kind: "Action",
      label: "Add a passthrough service",
      icon: "plus",
      run: () => navigate("/passthrough-services?new=1"),
    },
    may("batches:write") && {
      kind: "Action",
      label: "Start a batch",
      icon: "plus",
      run: () => navigate("/batches?new=1"),
    },
    { kind: "Action", label: "Show failed calls", icon: "calls", run: () => navigate("/calls?status=failed") },
    {
      kind: "Action",
      label: theme.value === "dark" ? "Use the light theme" : "Use the dark theme",
      icon: "sun",
      run: () => (theme.value = theme.value === "dark" ? "light" : "dark"),
    },
    {
      kind: "Action",
      label: hasExactAmounts.value ? "Round amounts" : "Show exact amounts",
      icon: "overview",
      run: toggleExactAmounts,
    },
    { kind: "Action", label: "Components of this console", icon: "docs", run: () => navigate("/console/components") },
    { kind: "Action", label: "Keyboard shortcuts", icon: "docs", run: openHelp },
    { kind: "Action", label: "Sign out", icon: "person", run: () => void signOut() },
  ]
  return all.filter((item) => item !== false)
}

function useItems(): Item[] {
  const models = useGet<List<Model>>("/models")
  const keys = useAll<ApiKey>(may("keys:read") ? "/keys" : null)
  const others = useOtherObjects()
  return useMemo(
    () => [
      ...visibleEntries().map(({ path, label, icon }) => ({ kind: "Page", label, icon, run: () => navigate(path) })),
      ...actions(),
      ...(keys.data?.data ?? []).map(({ hash, name, label }) => ({
        kind: "Key",
        label: name,
        detail: label,
        icon: "keys" as const,
        run: () => navigate(hrefOf("key", hash)),
      })),
      ...(models.data?.data ?? []).map(({ id, name }) => ({
        kind: "Model",
        label: id,
        detail: name,
        icon: "models" as const,
        run: () => navigate(hrefOf("model", id)),
      })),
      ...others,
    ],
    [models.data, keys.data, others],
  )
}

type Named = {
  id: string
  slug?: string
  name?: string
  email?: string
  first_name?: string | null
  last_name?: string | null
}

/** Objects with a name, by the list that has them. */
const OBJECTS: readonly { kind: ChipKind; label: string; icon: IconName; area: string; path: string }[] = [
  { kind: "intern", label: "Intern", icon: "interns", area: "interns:read", path: "/interns" },
  { kind: "guardrail", label: "Guardrail", icon: "guardrails", area: "guardrails:read", path: "/guardrails" },
  { kind: "preset", label: "Preset", icon: "presets", area: "presets:read", path: "/presets" },
  { kind: "provider", label: "Provider", icon: "providers", area: "byok:read", path: "/providers" },
  { kind: "member", label: "Member", icon: "person", area: "members:read", path: "/organization/members" },
  { kind: "workspace", label: "Workspace", icon: "workspace", area: "workspaces:read", path: "/workspaces" },
]
/** A list is searched on its page if it is longer. */
const MAX_OBJECTS = 500

function nameOf({ id, name, email, first_name: first, last_name: last }: Named): string {
  return name ?? ([first, last].filter(Boolean).join(" ") || email || id)
}

function useOtherObjects(): Item[] {
  const lists = OBJECTS.map(({ area, path, kind }) =>
    useQuery<{ data: Named[] }>(may(area) ? `${path}#palette` : null, () =>
      kind === "intern" ? readByCursor<Named>(path, MAX_OBJECTS) : readAll<Named>(path, api, MAX_OBJECTS),
    ),
  )
  return useMemo(
    () =>
      OBJECTS.flatMap(({ kind, label, icon }, index) =>
        (lists[index]?.data?.data ?? []).map((object): Item => {
          const id = kind === "preset" || kind === "provider" ? (object.slug ?? object.id) : object.id
          const detail = object.email ?? object.slug
          return {
            kind: label,
            label: nameOf(object),
            ...(detail !== undefined && { detail }),
            icon,
            run: () => navigate(hrefOf(kind, id)),
          }
        }),
      ),
    lists.map(({ data }) => data),
  )
}

/** Every word of the search must occur; a match at the start of the label comes first. */
function search(items: readonly Item[], text: string): Item[] {
  const found = items.filter(({ kind, label, detail = "" }) => matches(text, `${kind} ${label} ${detail}`))
  const [first = "", second] = termsOf(text)
  const startsWith = ({ label }: Item, term: string) => label.toLowerCase().startsWith(term)
  // "intern scout" is the intern before its key, which has that name.
  const isOfKind = (item: Item) => second !== undefined && item.kind.toLowerCase() === first && startsWith(item, second)
  const rank = (item: Item) => (isOfKind(item) ? 0 : startsWith(item, first) ? 1 : 2)
  return found.sort((a, b) => rank(a) - rank(b)).slice(0, MAX_SHOWN)
}

export function Palette() {
  const [text, setText] = useState("")
  const [index, setIndex] = useState(0)
  const list = useRef<HTMLDivElement>(null)
  const items = useItems()
  const found = useMemo(() => search(items, text), [items, text])
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" })
  }, [index])
  const run = (item: Item | undefined) => {
    if (!item) return
    closeDialog()
    item.run()
  }
  const onKey = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0
    if (step !== 0) {
      event.preventDefault()
      setIndex((index + step + found.length) % Math.max(1, found.length))
    }
    if (event.key === "Enter") {
      event.preventDefault()
      run(found[index])
    }
  }
  return (
    <Dialog title="Go to" class="palette" onClose={closeDialog}>
      <input
        type="text"
        role="combobox"
        aria-label="Search pages, actions and objects"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={`palette-${index}`}
        placeholder="Search pages, actions and objects"
        autoFocus
        spellcheck={false}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value)
          setIndex(0)
        }}
        onKeyDown={onKey}
      />
      <div role="listbox" id="palette-list" aria-label="Results" ref={list} tabIndex={-1}>
        {found.map((item, position) => (
          <div
            key={`${item.kind} ${item.label} ${item.detail ?? ""}`}
            id={`palette-${position}`}
            role="option"
            aria-selected={position === index}
            onClick={() => run(item)}
            onMouseMove={() => setIndex(position)}
          >
            <Icon name={item.icon} />
            <span class="truncate" dir="auto">
              {item.label}
            </span>
            <span class="quiet small truncate grow" dir="auto">
              {item.detail}
            </span>
            <span class="kind right">{item.kind}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && <div class="none">Nothing matches “{text}”.</div>}
      <footer>
        <span>
          <kbd>↑</kbd> <kbd>↓</kbd> choose
        </span>
        <span>
          <kbd>Enter</kbd> open
        </span>
        <span>
          <kbd>Esc</kbd> close
        </span>
      </footer>
    </Dialog>
  )
}
