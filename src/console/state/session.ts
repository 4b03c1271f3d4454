import { computed, signal } from "@preact/signals"
import { ApiError, onUnauthorized, readSession, readSignInOptions, sessionCall } from "../api/client.ts"
import { clearCache } from "../api/query.ts"
import type { Session } from "../api/types.ts"

/** Undefined while it loads, null if nobody is signed in. */
export const session = signal<Session | null | undefined>(undefined)
export const sessionError = signal<ApiError | undefined>(undefined)

export async function loadSession(): Promise<void> {
  try {
    const { data } = await readSession<{ data: Session }>()
    session.value = data
    sessionError.value = undefined
  } catch (thrown) {
    const error = ApiError.fromThrown(thrown)
    if (error.status === 401) session.value = null
    else sessionError.value = error
  }
}

export async function signIn(key: string): Promise<void> {
  const { data } = await sessionCall<{ data: Session }>("POST", { key })
  clearCache()
  session.value = data
}

/** The name of the identity provider; null if the deployment has none. */
export async function signInProvider(): Promise<string | null> {
  const { data } = await readSignInOptions()
  return data.oidc?.name ?? null
}

export async function signOut(): Promise<void> {
  await sessionCall("DELETE")
  clearCache()
  session.value = null
}

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
  if (session.value) session.value = null
})
