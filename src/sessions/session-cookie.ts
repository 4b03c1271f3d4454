import { isSecure } from "../http/host-cookie.ts"
import type { MasterKeys } from "../secrets/master-key.ts"
import { type ConsoleSession, cookieNameFor, sealSession } from "./cookie.ts"

export function sessionCookieAttributes(url: string) {
  return { path: "/", httpOnly: true, sameSite: "Strict", secure: isSecure(url) } as const
}

type CookieContext = { url: string; masters: MasterKeys; now: number }

/** The cookie of a session: its name, its value and its attributes. */
export async function sessionCookie(session: ConsoleSession, { url, masters, now }: CookieContext) {
  const maxAge = Math.floor((session.expiresAt - now) / 1_000)
  const value = await sealSession(session, masters)
  return [cookieNameFor(url), value, { ...sessionCookieAttributes(url), maxAge }] as const
}
