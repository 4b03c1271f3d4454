import { EncryptJWT, jwtDecrypt } from "jose"
import { hostCookieName } from "../http/host-cookie.ts"
import { derivedBytes, type MasterKeys } from "../secrets/master-key.ts"

/**
 * A console session: the hash of its key, its end in epoch milliseconds, and the member who signed in with the identity
 * provider; undefined for a sign-in with the key itself.
 */
export type ConsoleSession = { keyHash: string; expiresAt: number; userId?: string | undefined }

export const SESSION_MS = 12 * 3_600_000

const PURPOSE = "console-session"
const MAX_COOKIE_LENGTH = 1_024

export function cookieNameFor(url: string): string {
  return hostCookieName("gateway_console", url)
}

/** The value of the cookie: encrypted with a separately derived key. It does not contain the API key. */
export async function sealSession(
  { keyHash, expiresAt, userId }: ConsoleSession,
  { current }: MasterKeys,
): Promise<string> {
  return new EncryptJWT({ exp: expiresAt / 1_000, ...(userId !== undefined && { user: userId }) })
    .setProtectedHeader({ alg: "dir", enc: "A256GCM" })
    .setSubject(keyHash)
    .encrypt(await derivedBytes(current, PURPOSE))
}

/** The unexpired session in a cookie of this deployment; undefined for any other value. */
export async function openSession(
  value: string,
  { current, previous }: MasterKeys,
  now: number,
): Promise<ConsoleSession | undefined> {
  if (value.length > MAX_COOKIE_LENGTH) return undefined
  const masters = previous === undefined ? [current] : [current, previous]
  for (const master of masters) {
    const session = await openWith(value, master, now)
    if (session) return session
  }
  return undefined
}

const OPTIONS = {
  keyManagementAlgorithms: ["dir"],
  contentEncryptionAlgorithms: ["A256GCM"],
  requiredClaims: ["exp", "sub"],
}

async function openWith(value: string, master: string, now: number): Promise<ConsoleSession | undefined> {
  try {
    const key = await derivedBytes(master, PURPOSE)
    const { payload } = await jwtDecrypt(value, key, { ...OPTIONS, currentDate: new Date(now) })
    const { sub = "", exp = 0, user } = payload
    return {
      keyHash: sub,
      expiresAt: Math.round(exp * 1_000),
      ...(typeof user === "string" && { userId: user }),
    }
  } catch {
    return undefined
  }
}
