import { EncryptJWT, jwtDecrypt } from "jose"
import * as z from "zod"
import { derivedBytes, type MasterKeys } from "../../secrets/master-key.ts"
import { toBase64Url } from "../../support/text/encoding.ts"

/** A sign-in that began in this browser. It is stored only in its cookie. */
const Transaction = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  /** Path of this gateway to show afterwards. */
  returnTo: z.string(),
  organizationId: z.string().optional(),
  exp: z.number(),
})
export type Transaction = Omit<z.infer<typeof Transaction>, "exp"> & { expiresAt: number }

export const TRANSACTION_MS = 10 * 60_000
const PURPOSE = "console-sign-in"
const MAX_COOKIE_LENGTH = 4_096

/** 256 bits. */
function random(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(32)))
}

export function newTransaction(returnTo: string, organizationId: string | undefined, now: number): Transaction {
  return {
    state: random(),
    nonce: random(),
    verifier: random(),
    returnTo,
    ...(organizationId !== undefined && { organizationId }),
    expiresAt: now + TRANSACTION_MS,
  }
}

/** RFC 7636, section 4.2. */
export async function challengeOf({ verifier }: Transaction): Promise<string> {
  return toBase64Url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier))))
}

export async function sealTransaction(transaction: Transaction, { current }: MasterKeys): Promise<string> {
  const { expiresAt, ...claims } = transaction
  return new EncryptJWT({ ...claims, exp: expiresAt / 1_000 })
    .setProtectedHeader({ alg: "dir", enc: "A256GCM" })
    .encrypt(await derivedBytes(current, PURPOSE))
}

/** The unexpired transaction in a cookie of this deployment. */
export async function openTransaction(
  value: string | undefined,
  { current, previous }: MasterKeys,
  now: number,
): Promise<Transaction | undefined> {
  if (value === undefined || value.length > MAX_COOKIE_LENGTH) return undefined
  for (const master of previous === undefined ? [current] : [current, previous]) {
    const options = {
      keyManagementAlgorithms: ["dir"],
      contentEncryptionAlgorithms: ["A256GCM"],
      requiredClaims: ["exp"],
      currentDate: new Date(now),
    }
    const decrypted = await jwtDecrypt(value, await derivedBytes(master, PURPOSE), options).catch(() => undefined)
    const { data } = Transaction.safeParse(decrypted?.payload)
    if (data) {
      const { exp, ...rest } = data
      return { ...rest, expiresAt: exp * 1_000 }
    }
  }
  return undefined
}

/** A path of this gateway from a URL parameter: never another host, as `//host` and `/\host` would be. */
export function safePath(path: string | undefined, origin: string): string {
  const url = path === undefined ? null : URL.parse(path, origin)
  if (!path?.startsWith("/") || url?.origin !== origin) return "/"
  return url.pathname.startsWith("//") ? "/" : `${url.pathname}${url.search}`
}
