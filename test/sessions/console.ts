import { exports } from "cloudflare:workers"
import { expectJson } from "../support/world.ts"

export const ORIGIN = "http://gateway.test"

const front = () => (exports as unknown as { default: Fetcher }).default

export type SessionData = {
  kind: string
  key: { hash: string; name: string; label: string }
  workspace: { id: string; slug: string; name: string } | null
  organization: { id: string; name: string } | null
  may: string[]
  expires_at: string
}

/** The headers that a browser sends with a request from the console. */
export const FROM_CONSOLE = { "x-gateway-console": "1", "sec-fetch-site": "same-origin" }

export function send(method: string, path: string, headers: Record<string, string> = {}, body?: unknown) {
  return front().fetch(path.startsWith("https:") ? path : `${ORIGIN}${path}`, {
    method,
    headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}

/** Signs in: returns the session, its cookie and a client that sends requests as the console does. */
export async function signIn(key: string) {
  const answer = await send("POST", "/console/session", FROM_CONSOLE, { key })
  const setCookie = answer.headers.get("set-cookie") ?? ""
  const { data } = await expectJson<{ data: SessionData }>(201, answer)
  const cookie = setCookie.split(";")[0] ?? ""
  return {
    session: data,
    cookie,
    setCookie,
    call: (method: string, resource: string, body?: unknown, headers: Record<string, string> = {}) =>
      send(method, `/api/v1${resource}`, { cookie, ...FROM_CONSOLE, ...headers }, body),
  }
}
