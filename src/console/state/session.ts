import { computed, signal } from "@preact/signals"
import {
  ApiError,
  ignoreEarlierRequests,
  onUnauthorized,
  readSession,
  readSignInOptions,
  sessionCall,
} from "../api/client.ts"
import { clearCache, invalidate } from "../api/query.ts"
import type { Session } from "../api/types.ts"
import { toast } from "./toasts.ts"

/** Undefined while it loads, null if nobody is signed in. */
export const session = signal<Session | null | undefined>(undefined)
export const sessionError = signal<ApiError | undefined>(undefined)
/** The session ended while its pages were open: they keep what was entered until the same user signs in again. */
export const hasEnded = signal(false)

/** The user or key of a session. A page of one is never shown to another. */
export function identityOf({ kind, organization, user, key }: Session): string {
  return [kind, organization?.id, user?.id ?? key.hash].join(" ")
}

const resets = new Set<() => void>()

/** Calls the listener when another user signs in, or the user signs out. */
export function onUserChange(listener: () => void): void {
  resets.add(listener)
}

function enter(next: Session): void {
  const before = session.peek()
  ignoreEarlierRequests()
  if (before && identityOf(before) === identityOf(next)) {
    session.value = next
    if (hasEnded.peek()) invalidate("")
  } else {
    if (before?.organization?.id !== undefined && before.organization.id !== next.organization?.id) forgetWorkspace()
    reset()
    session.value = next
  }
  hasEnded.value = false
  sessionError.value = undefined
}

function endSession(): void {
  reset()
  session.value = null
  hasEnded.value = false
}

function reset(): void {
  clearCache()
  for (const listener of resets) listener()
}

export async function loadSession(): Promise<void> {
  try {
    const { data } = await readSession<{ data: Session }>()
    enter(data)
    informOtherTabs(identityOf(data))
  } catch (thrown) {
    const error = ApiError.fromThrown(thrown)
    if (error.status !== 401) sessionError.value = error
    else if (session.peek()) hasEnded.value = true
    else session.value = null
  }
}

export async function signIn(key: string): Promise<void> {
  const { data } = await sessionCall<{ data: Session }>("POST", { key })
  enter(data)
  informOtherTabs(identityOf(data))
}

/** The name of the identity provider; null if the deployment has none. */
export async function signInProvider(): Promise<string | null> {
  const { data } = await readSignInOptions()
  return data.oidc?.name ?? null
}

export async function signOut(): Promise<void> {
  try {
    await sessionCall("DELETE")
  } catch (thrown) {
    toast("bad", `You are still signed in. ${ApiError.fromThrown(thrown).message}`)
    return
  }
  endSession()
  informOtherTabs(SIGNED_OUT)
}

const LATEST = "console.session"
const SIGNED_OUT = "signed out"

/** Tabs share the cookie of the session: a change in one is a change in all. */
function informOtherTabs(user: string): void {
  localStorage.setItem(LATEST, user)
  localStorage.removeItem(LATEST)
}

addEventListener("storage", ({ key, newValue: user }) => {
  if (key !== LATEST || user === null) return
  const current = session.peek()
  if (user === SIGNED_OUT) endSession()
  else if (!current || hasEnded.peek() || identityOf(current) !== user) void loadSession()
})

/** Whether the key of the session may use an area of the API, such as `keys:write`. */
export function may(area: string): boolean {
  return session.value?.may.includes(area) ?? false
}

const WORKSPACE = "console.workspace"
const chosen = signal<string | null>(localStorage.getItem(WORKSPACE))

/** Id of the workspace of lists. A management key may choose; any other key has its own. */
export const workspaceId = computed(() => {
  const fixed = session.value?.workspace?.id ?? null
  return session.value?.kind === "management" ? (chosen.value ?? fixed) : fixed
})

export function chooseWorkspace(id: string): void {
  chosen.value = id
  localStorage.setItem(WORKSPACE, id)
  clearCache()
}

/** The chosen workspace may belong to another organization, or be deleted. */
export function forgetWorkspace(): void {
  chosen.value = null
  localStorage.removeItem(WORKSPACE)
}

onUnauthorized(() => {
  if (session.peek()) hasEnded.value = true
})
