import { exportJWK, type JWTPayload, SignJWT } from "jose"
import { derivedBytes, type MasterKeys } from "../secrets/master-key.ts"
import { concat } from "../support/bytes.ts"
import { sha256Hex } from "../support/text/encoding.ts"

/** A P-256 private key of 32 bytes in PKCS #8 (RFC 5958, RFC 5915), without its public key. */
const PKCS8_HEAD = "3041020100301306072a8648ce3d020106082a8648ce3d030107042730250201010420"
const P256 = { name: "ECDSA", namedCurve: "P-256" }

export type PublicKey = { alg: "ES256"; crv: "P-256"; kid: string; kty: "EC"; use: "sig"; x: string; y: string }
type SigningKey = { key: CryptoKey; publicKey: PublicKey }

/** The key that signs tokens is derived from the master key: it is not stored, and both rotate together. */
async function signingKeyOf(master: string): Promise<SigningKey> {
  const head = Uint8Array.from(PKCS8_HEAD.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
  for (let attempt = 0; ; attempt++) {
    const secret = await derivedBytes(master, `oauth-signing:${attempt}`)
    // One value in 2^32 is not a private key of this curve.
    const key = await crypto.subtle
      .importKey("pkcs8", Uint8Array.from(concat([head, secret])), P256, true, ["sign"])
      .catch(() => undefined)
    if (!key) continue
    const { x = "", y = "" } = await exportJWK(key)
    const kid = sha256Hex(JSON.stringify({ crv: "P-256", kty: "EC", x, y })).slice(0, 32)
    return { key, publicKey: { alg: "ES256", crv: "P-256", kid, kty: "EC", use: "sig", x, y } }
  }
}

/** The public keys for tokens of this deployment, including those of the previous master key. */
export async function publicKeys({ current, previous }: MasterKeys): Promise<PublicKey[]> {
  const masters = previous === undefined ? [current] : [current, previous]
  return Promise.all(masters.map(async (master) => (await signingKeyOf(master)).publicKey))
}

export async function signToken({ current }: MasterKeys, claims: JWTPayload): Promise<string> {
  const { key, publicKey } = await signingKeyOf(current)
  const { alg, kid } = publicKey
  return new SignJWT(claims).setProtectedHeader({ alg, kid, typ: "at+jwt" }).sign(key)
}
