import { signingKey } from "../secrets/master-key.ts"
import { decodeBase64, toBase64Url } from "../support/encoding.ts"

/**
 * Who sits at the authorization page: an id of the sitting, and the hash of the key they signed in with, if they did.
 */
export type Session = { id: string; keyHash: string | null; expiresAt: number }

const SESSION_MS = 10 * 60_000
const encoder = new TextEncoder()

export function newSession(keyHash: string | null, now: number): Session {
  return { id: crypto.randomUUID(), keyHash, expiresAt: now + SESSION_MS }
}

async function sign(master: string, purpose: string, text: string): Promise<string> {
  const key = await signingKey(master, purpose)
  return toBase64Url(new Uint8Array(await crypto.subtle.sign("HMAC", key, encoder.encode(text))))
}

async function isSigned(master: string, purpose: string, text: string, signature: string): Promise<boolean> {
  const bytes = decodeBase64(signature)
  const key = await signingKey(master, purpose)
  return bytes !== undefined && crypto.subtle.verify("HMAC", key, bytes, encoder.encode(text))
}

/** The session as a cookie holds it: readable, unforgeable, and without the key itself. */
export async function toCookie(session: Session, master: string): Promise<string> {
  const result = toBase64Url(encoder.encode(JSON.stringify(session)))
  return `${result}.${await sign(master, "auth-session", result)}`
}

/** The session of a cookie that this deployment made and that is not over. */
export async function readCookie(cookie: string, master: string, now: number): Promise<Session | undefined> {
  const [result = "", signature = ""] = cookie.split(".")
  if (result === "" || !(await isSigned(master, "auth-session", result, signature))) return undefined
  const session = JSON.parse(new TextDecoder().decode(decodeBase64(result))) as Session
  return session.expiresAt > now ? session : undefined
}

/**
 * What a form must carry, so that no other page can send it: made for one sitting, one deed and one request of an app.
 */
export function formToken(session: Session, event: string, query: string, master: string): Promise<string> {
  return sign(master, "auth-form", JSON.stringify([session.id, event, query]))
}

export function isFormToken(token: string, session: Session, event: string, query: string, master: string) {
  return isSigned(master, "auth-form", JSON.stringify([session.id, event, query]), token)
}
