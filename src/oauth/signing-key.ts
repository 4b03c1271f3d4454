import { derivedBytes, type Masters } from "../secrets/master-key.ts"
import { sha256Hex, toBase64Url } from "../support/encoding.ts"
import { concat } from "../support/bytes.ts"

/** How a P-256 private key of 32 bytes is written in PKCS #8 (RFC 5958, RFC 5915), without the public one. */
const PKCS8_HEAD = "3041020100301306072a8648ce3d020106082a8648ce3d030107042730250201010420"
const P256 = { name: "ECDSA", namedCurve: "P-256" }
const ES256 = { name: "ECDSA", hash: "SHA-256" }
const encoder = new TextEncoder()

export type PublicKey = { alg: "ES256"; crv: "P-256"; kid: string; kty: "EC"; use: "sig"; x: string; y: string }
type SigningKey = { key: CryptoKey; told: PublicKey }

/** The key that signs tokens hangs on the master key: nothing of it is stored, and it turns with it. */
async function signingKeyOf(master: string): Promise<SigningKey> {
  const head = Uint8Array.from(PKCS8_HEAD.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
  for (let attempt = 0; ; attempt++) {
    const secret = await derivedBytes(master, `oauth-signing:${attempt}`)
    // One number in 2^32 is no private key of this curve.
    const key = await crypto.subtle
      .importKey("pkcs8", Uint8Array.from(concat([head, secret])), P256, true, ["sign"])
      .catch(() => undefined)
    if (!key) continue
    const { x = "", y = "" } = (await crypto.subtle.exportKey("jwk", key)) as JsonWebKey
    const kid = sha256Hex(JSON.stringify({ crv: "P-256", kty: "EC", x, y })).slice(0, 32)
    return { key, told: { alg: "ES256", crv: "P-256", kid, kty: "EC", use: "sig", x, y } }
  }
}

/** What tokens of this deployment can be verified with, those of a former master key among them. */
export async function publicKeys({ current, previous }: Masters): Promise<PublicKey[]> {
  const masters = previous === undefined ? [current] : [current, previous]
  return Promise.all(masters.map(async (master) => (await signingKeyOf(master)).told))
}

export async function signToken({ current }: Masters, claims: Record<string, unknown>): Promise<string> {
  const { key, told: result } = await signingKeyOf(current)
  const part = (value: object) => toBase64Url(encoder.encode(JSON.stringify(value)))
  const signed = `${part({ alg: result.alg, kid: result.kid, typ: "at+jwt" })}.${part(claims)}`
  const signature = new Uint8Array(await crypto.subtle.sign(ES256, key, encoder.encode(signed)))
  return `${signed}.${toBase64Url(signature)}`
}
