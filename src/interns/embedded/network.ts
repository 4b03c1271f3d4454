import type { Env } from "../../env.ts"
import { resolverOf } from "../../outbound/settings.ts"
import { readAtMost } from "../../support/bytes.ts"
import { egressFetch } from "../../vault/egress-fetch.ts"
import { hiding } from "../../vault/hiding.ts"
import type { ReleasedSecret } from "../../vault/secret.ts"
import type { ShellFetch } from "./shell.ts"

const MAX_ANSWER_BYTES = 4 * 1024 * 1024

/** Of the shell: each secret's placeholder, under its name in capitals. */
export function placeholdersOf(secrets: readonly ReleasedSecret[]): Record<string, string> {
  return Object.fromEntries(secrets.map(({ name, placeholder }) => [name.toUpperCase(), placeholder]))
}

/** What `curl` in an intern's shell is served by: the rules of its vault, and public addresses only. */
export function shellFetch(env: Env, secrets: () => Promise<ReleasedSecret[]>, stopped: AbortSignal): ShellFetch {
  return async (url, { method = "GET", headers = {}, body, signal } = {}) => {
    const both = signal ? AbortSignal.any([stopped, signal]) : stopped
    const own = headers instanceof Headers ? [...headers.entries()] : Object.entries(headers)
    const asked = { method, url, headers: own, ...(body !== undefined && { body }) }
    const sent = await egressFetch(asked, { fetch, resolve: resolverOf(env, fetch), secrets, signal: both })
    if (!sent.ok) throw new Error(sent.reason)
    const { response } = sent
    const bytes = response.body ? await readAtMost(response.body, MAX_ANSWER_BYTES) : new Uint8Array(0)
    if (!bytes) throw new Error(`The answer has more than ${MAX_ANSWER_BYTES} bytes.`)
    const { status, statusText } = response
    // A host may say back what it was sent, and what an agent reads becomes rows and prompts.
    const hidden = hiding(sent)
    const told = [...response.headers].map(([name, value]) => [name, hidden.text(value)])
    return { status, statusText, headers: Object.fromEntries(told), body: hidden.bytes(bytes), url: sent.url }
  }
}
