import type { Env } from "../../../config/env.ts"
import { readAtMost } from "../../../support/bytes.ts"
import { egressFetch } from "../../../vault/egress-fetch.ts"
import { egressDepsOf } from "../../../vault/egress-deps.ts"
import type { VisibleSecret, ReleasedSecret } from "../../../vault/secret.ts"
import type { InternRow } from "../../table.ts"
import { actorOfIntern } from "../actor.ts"
import type { ShellFetch } from "./shell-fetch.ts"

const MAX_RESPONSE_BYTES = 4 * 1024 * 1024

/** Environment of the shell: the placeholder of each secret, under its name in capitals. */
export function placeholdersOf(secrets: readonly VisibleSecret[]): Record<string, string> {
  return Object.fromEntries(secrets.map(({ name, placeholder }) => [name.toUpperCase(), placeholder]))
}

export type Network = {
  intern: () => Promise<InternRow | undefined>
  secrets: (intern: InternRow) => Promise<ReleasedSecret[]>
  stopped: AbortSignal
  waitUntil: (work: Promise<unknown>) => void
}

/** Serves `curl` in an intern's shell: applies the rules of its vault, and allows only public addresses. */
export function shellFetch(env: Env, { intern, secrets, stopped, waitUntil }: Network): ShellFetch {
  return async (url, { method = "GET", headers = {}, body, signal, followRedirects = true } = {}) => {
    const row = await intern()
    if (!row) throw new Error("The intern no longer exists.")
    const deps = egressDepsOf(env, {
      intern: { id: row.id, workspaceId: row.workspaceId },
      actor: actorOfIntern(row),
      secrets: () => secrets(row),
      signal: signal ? AbortSignal.any([stopped, signal]) : stopped,
      waitUntil,
    })
    const entries = headers instanceof Headers ? [...headers.entries()] : Object.entries(headers)
    const request = { method, url, headers: entries, ...(body !== undefined && { body }) }
    const sent = await egressFetch(request, deps, { followRedirects })
    if (!sent.ok) throw new Error(sent.reason)
    const { response } = sent
    const bytes = response.body ? await readAtMost(response.body, MAX_RESPONSE_BYTES) : new Uint8Array(0)
    if (!bytes) throw new Error(`The response has more than ${MAX_RESPONSE_BYTES} bytes.`)
    const { status, statusText, headers: result, hidden } = response
    return { status, statusText, headers: Object.fromEntries(result), body: hidden.bytes(bytes), url: response.url }
  }
}
