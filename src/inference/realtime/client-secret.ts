import { derivedBytes, type MasterKeys } from "../../secrets/master-key.ts"
import { type AssociatedData, openText, sealText } from "../../secrets/seal.ts"
import { type Json, parseStored } from "../../support/text/json.ts"

/**
 * A short-lived credential for web pages: it can only open realtime sessions of one model with the key that created
 * it. Nothing is stored: the secret is its encrypted content. The current rules and limits of the key apply.
 */
export type ClientSecret = {
  keyHash: string
  model: string
  /** Sent to the provider when a session opens. */
  session: Json
  /** Epoch milliseconds. */
  expiresAt: number
}

const PURPOSE = "realtime-client-secret"
const PREFIX = "ek_"
/** Small, because the secret is sent in a header. */
export const MAX_SESSION_BYTES = 4_000
const MAX_LENGTH = 8_192
const AAD: AssociatedData = { kind: PURPOSE, ownerId: "", workspaceId: "", name: "", version: "1" }

export function isClientSecret(credential: string): boolean {
  return credential.startsWith(PREFIX)
}

export async function sealClientSecret(secret: ClientSecret, { current }: MasterKeys): Promise<string> {
  return PREFIX + (await sealText(await secretKey(current), AAD, JSON.stringify(secret)))
}

/** Undefined for one that is forged or has expired. */
export async function openClientSecret(
  sealed: string,
  { current, previous }: MasterKeys,
  now: number,
): Promise<ClientSecret | undefined> {
  if (!isClientSecret(sealed) || sealed.length > MAX_LENGTH) return undefined
  for (const master of previous === undefined ? [current] : [current, previous]) {
    const text = await openText(await secretKey(master), AAD, sealed.slice(PREFIX.length))
    if (text === undefined) continue
    const secret = parseStored<ClientSecret>(text)
    return secret.expiresAt > now ? secret : undefined
  }
  return undefined
}

async function secretKey(master: string): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", await derivedBytes(master, PURPOSE), "AES-GCM", false, ["encrypt", "decrypt"])
}
