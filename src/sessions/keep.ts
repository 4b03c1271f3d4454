import type { Context } from "hono"
import { setCookie } from "hono/cookie"
import type { App } from "../access/app.ts"
import { isSecure } from "../http/host-cookie.ts"
import { mastersOf } from "../secrets/master-key.ts"
import { type ConsoleSession, cookieNameFor, sealSession } from "./cookie.ts"

export function sessionCookieAttributes(url: string) {
  return { path: "/", httpOnly: true, sameSite: "Strict", secure: isSecure(url) } as const
}

/** Gives the browser the cookie of a session. */
export async function keepSession(c: Context<App>, session: ConsoleSession, now: number): Promise<void> {
  const maxAge = Math.floor((session.expiresAt - now) / 1_000)
  const value = await sealSession(session, mastersOf(c.env))
  setCookie(c, cookieNameFor(c.req.url), value, { ...sessionCookieAttributes(c.req.url), maxAge })
}
