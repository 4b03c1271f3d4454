import type { ComponentChildren } from "preact"
import { useEffect } from "preact/hooks"
import { hasExactAmounts } from "../format/number.ts"
import { useAll } from "../api/pages.ts"
import type { Workspace } from "../api/types.ts"
import { entries, type Entry } from "../routes.ts"
import { openQuestions, useQuestions } from "../state/questions.ts"
import { path } from "../state/router.ts"
import { chooseWorkspace, forgetWorkspace, may, session, signOut, workspaceId } from "../state/session.ts"
import { toggleExactAmounts } from "../state/amounts.ts"
import { theme, type Theme } from "../state/theme.ts"
import { Icon } from "../ui/icon.tsx"
import { Menu } from "../ui/menu.tsx"
import { Toasts } from "../ui/toasts.tsx"
import { openHelp, openPalette } from "./keyboard.ts"
import { Mark } from "./mark.tsx"

export function visibleEntries(): readonly Entry[] {
  return entries.filter(({ area }) => area === undefined || may(area))
}

function isCurrent(entry: Entry): boolean {
  return entry.path === "/" ? path.value === "/" : path.value === entry.path || path.value.startsWith(`${entry.path}/`)
}

export function Frame({ children }: { children: ComponentChildren }) {
  useQuestions()
  const visible = visibleEntries()
  const foot = visible.filter(({ group }) => group === "foot")
  return (
    <div class="frame">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <nav class="side" aria-label="Console">
        <WorkspaceSwitch />
        <button type="button" class="item" onClick={openPalette}>
          <Icon name="search" />
          Go to
          <span class="end">
            <kbd>Ctrl</kbd> <kbd>K</kbd>
          </span>
        </button>
        <hr />
        {visible
          .filter(({ group }) => group === undefined)
          .map((entry) => (
            <EntryLink key={entry.path} entry={entry} />
          ))}
        <div class="foot">
          <hr />
          {foot.map((entry) => (
            <EntryLink key={entry.path} entry={entry} />
          ))}
          <AccountMenu />
        </div>
      </nav>
      <main class="main" id="main" tabIndex={-1}>
        {children}
      </main>
      <BottomBar visible={visible} />
      <Toasts />
    </div>
  )
}

function EntryLink({ entry }: { entry: Entry }) {
  return (
    <a href={entry.path} aria-current={isCurrent(entry) ? "page" : undefined}>
      <Icon name={entry.icon} />
      {entry.label}
      {entry.path === "/interns" && openQuestions.value.length > 0 && (
        <span class="badge end" title="Open questions">
          {openQuestions.value.length}
        </span>
      )}
    </a>
  )
}

const IN_BAR = ["/", "/playground", "/calls", "/interns", "/keys"]

function BottomBar({ visible }: { visible: readonly Entry[] }) {
  const inBar = visible.filter((entry) => IN_BAR.includes(entry.path))
  // The current page may be in the "More" menu.
  const isElsewhere = !inBar.some(isCurrent) && visible.some(isCurrent)
  return (
    <nav class="bottom" aria-label="Console, short">
      {inBar.map((entry) => (
        <EntryLink key={entry.path} entry={entry} />
      ))}
      <button type="button" class={isElsewhere ? "current" : ""} onClick={openPalette}>
        <Icon name="more" />
        More
      </button>
    </nav>
  )
}

function WorkspaceSwitch() {
  const isManagement = session.value?.kind === "management"
  const list = useAll<Workspace>(isManagement && may("workspaces:read") ? "/workspaces" : null)
  const workspaces = list.data?.data ?? []
  const current = workspaces.find(({ id }) => id === workspaceId.value)
  const isGone = list.data !== undefined && current === undefined
  useEffect(() => {
    if (isGone) forgetWorkspace()
  }, [isGone])
  const name = current?.name ?? session.value?.workspace?.name ?? "No workspace"
  const title = (
    <>
      <Mark />
      <span class="truncate" dir="auto">
        {name}
      </span>
    </>
  )
  if (workspaces.length === 0) return <div class="workspace row nowrap">{title}</div>
  return (
    <div class="switch">
      <Menu
        label={`Workspace ${name}`}
        kind="quiet"
        placement="bottom-start"
        text={
          <>
            {title}
            <Icon name="down" size={14} />
          </>
        }
      >
        {workspaces.map(({ id, name: each }) => (
          <button type="button" key={id} onClick={() => chooseWorkspace(id)}>
            <Icon name="workspace" />
            <span class="grow truncate" dir="auto">
              {each}
            </span>
            {id === workspaceId.value && <Icon name="check" />}
          </button>
        ))}
      </Menu>
    </div>
  )
}

const THEMES: readonly { value: Theme; label: string }[] = [
  { value: "system", label: "System theme" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
]

/** The signed-in user or key. */
function accountName(): string {
  const { user, key } = session.value ?? {}
  const name = [user?.first_name, user?.last_name].filter((part) => part).join(" ")
  return name || user?.email || key?.name || "Session"
}

function AccountMenu() {
  return (
    <div class="switch">
      <Menu
        label="Session"
        kind="quiet"
        placement="top-start"
        text={
          <>
            <Icon name="person" />
            <span class="truncate" dir="auto">
              {accountName()}
            </span>
          </>
        }
      >
        {THEMES.map(({ value, label }) => (
          <button type="button" key={value} onClick={() => (theme.value = value)}>
            <span class="grow">{label}</span>
            {theme.value === value && <Icon name="check" />}
          </button>
        ))}
        <hr />
        <button type="button" aria-pressed={hasExactAmounts.value} onClick={toggleExactAmounts}>
          <span class="grow">Exact amounts</span>
          {hasExactAmounts.value ? <Icon name="check" /> : <kbd>$</kbd>}
        </button>
        <hr />
        <button type="button" onClick={openHelp}>
          <span class="grow">Keyboard</span>
          <kbd>?</kbd>
        </button>
        <button type="button" onClick={() => void signOut()}>
          Sign out
        </button>
      </Menu>
    </div>
  )
}
