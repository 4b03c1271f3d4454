import * as z from "zod"
import { signingKey } from "../secrets/master-key.ts"
import { decodeBase64, toBase64Url } from "../support/text/encoding.ts"
import { parseJson } from "../support/text/json.ts"

/** A session of the authorization page. `keyHash`: the key that the person signed in with; null before. */
const Session = z.object({ id: z.string(), keyHash: z.string().nullable(), expiresAt: z.number() })
export type Session = z.infer<typeof Session>

const SESSION_MS = 10 * 60_000
const encoder = new TextEncoder()

export function newSession(keyHash: string | null, now: number): Session {
  return { id: crypto.randomUUID(), keyHash, expiresAt: now + SESSION_MS }
}

async function sign(master: string, purpose: string, text: string): Promise<string> {
  const key = await signingKey(master, purpose)
  return toBase64Url(new Uint8Array(await crypto.subtle.sign("HMAC", key, encoder.encode(text))))
}

type Signed = { master: string; purpose: string; text: string; signature: string }

async function isSigned({ master, purpose, text, signature }: Signed): Promise<boolean> {
  const bytes = decodeBase64(signature)
  const key = await signingKey(master, purpose)
  return bytes !== undefined && crypto.subtle.verify("HMAC", key, bytes, encoder.encode(text))
}

/** The value of the session cookie: signed, not encrypted, and without the key itself. */
export async function toCookie(session: Session, master: string): Promise<string> {
  const payload = toBase64Url(encoder.encode(JSON.stringify(session)))
  return `${payload}.${await sign(master, "auth-session", payload)}`
}

/** The unexpired session in a cookie that this deployment signed. */
export async function readCookie(cookie: string, master: string, now: number): Promise<Session | undefined> {
  const [payload = "", signature = ""] = cookie.split(".")
  const signed = { master, purpose: "auth-session", text: payload, signature }
  if (payload === "" || !(await isSigned(signed))) return undefined
  const session = Session.safeParse(parseJson(new TextDecoder().decode(decodeBase64(payload)))).data
  return session && session.expiresAt > now ? session : undefined
}

type FormPurpose = { session: Session; purpose: "sign_in" | "decide"; query: string }

const textOf = ({ session, purpose, query }: FormPurpose) => JSON.stringify([session.id, purpose, query])

/** A CSRF token: valid for one session, one purpose and one request of an app. */
export function formToken(form: FormPurpose, master: string): Promise<string> {
  return sign(master, "auth-form", textOf(form))
}

export function isFormToken(token: string, form: FormPurpose, master: string): Promise<boolean> {
  return isSigned({ master, purpose: "auth-form", text: textOf(form), signature: token })
}
