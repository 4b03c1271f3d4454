import { toHex } from "./encoding.ts"

const encoder = new TextEncoder()
const LENGTH = 32

/** A stable pseudonym of an id, which only the secret can link to it. */
export async function pseudonym(secret: string, id: string): Promise<string> {
  const algorithm = { name: "HMAC", hash: "SHA-256" }
  const key = await crypto.subtle.importKey("raw", encoder.encode(`pseudonym:${secret}`), algorithm, false, ["sign"])
  return toHex(await crypto.subtle.sign("HMAC", key, encoder.encode(id))).slice(0, LENGTH)
}
