import { toHex } from "../support/text/encoding.ts"
import { signingKey } from "./master-key.ts"

const LENGTH = 32
const encoder = new TextEncoder()

/** The first 128 bits of an HMAC in hex, keyed for one purpose: short enough for an id. */
export async function shortSignature(master: string, purpose: string, text: string): Promise<string> {
  const key = await signingKey(master, purpose)
  return toHex(await crypto.subtle.sign("HMAC", key, encoder.encode(text))).slice(0, LENGTH)
}

/**
 * The pseudonym of a client's `user` for providers: stable, different in each organization, and linked to the id only
 * here.
 */
export function userPseudonym(master: string, organizationId: string, user: string): Promise<string> {
  return shortSignature(master, "user-pseudonym", JSON.stringify([organizationId, user]))
}
