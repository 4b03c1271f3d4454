import { isObject, type Json } from "../support/json.ts"
import { matcher } from "../support/wildcard.ts"
import { decodeBase64 } from "../support/encoding.ts"
import type { Policy } from "./policies.ts"

/** Tokens of a workload's own issuer (RFC 7519, RFC 7515). */

/** Public-key signatures only: with anything else whoever can verify a token can make one. */
const ALGORITHMS: Readonly<
  Record<string, { kty: string; use: SubtleCryptoImportKeyAlgorithm; by: SubtleCryptoSignAlgorithm }>
> = {
  RS256: {
    kty: "RSA",
    use: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" },
    by: { name: "RSASSA-PKCS1-v1_5" },
  },
  ES256: { kty: "EC", use: { name: "ECDSA", namedCurve: "P-256" }, by: { name: "ECDSA", hash: "SHA-256" } },
}

/** Clocks differ. */
const LEEWAY_SECONDS = 60
const MAX_TOKEN_LENGTH = 16_384

export type Jwk = JsonWebKey & { kid?: string }

type Parts = { header: Json; claims: Json; signed: string; signature: Uint8Array<ArrayBuffer> }

function readParts(token: string): Parts | undefined {
  const [header = "", claims = "", signature = "", ...more] = token.split(".")
  const [head, body, bytes] = [readJson(header), readJson(claims), decodeBase64(signature)]
  if (token.length > MAX_TOKEN_LENGTH || more.length > 0 || !head || !body || !bytes) return undefined
  return { header: head, claims: body, signed: `${header}.${claims}`, signature: bytes }
}

function readJson(part: string): Json | undefined {
  const bytes = decodeBase64(part)
  if (!bytes) return undefined
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The subject of a token that this policy trusts at `now`, epoch milliseconds; undefined for any other token. */
export async function subjectOf(
  token: string,
  policy: Policy,
  keys: readonly Jwk[],
  now: number,
): Promise<string | undefined> {
  const parts = readParts(token)
  if (!parts || !(await isSigned(parts, keys))) return undefined
  const { claims } = parts
  const { iss, aud, sub, exp, nbf, iat } = claims
  const seconds = now / 1_000
  const isFor = Array.isArray(aud) ? aud.includes(policy.audience) : aud === policy.audience
  if (iss !== policy.issuer || !isFor || typeof sub !== "string") return undefined
  if (typeof exp !== "number" || exp <= seconds - LEEWAY_SECONDS) return undefined
  for (const from of [nbf, iat]) {
    if (from !== undefined && (typeof from !== "number" || from > seconds + LEEWAY_SECONDS)) return undefined
  }
  return matcher([policy.subject])(sub) ? sub : undefined
}

/** With the key that the token names; where it names none, with any of its kind. */
async function isSigned({ header, signed, signature }: Parts, keys: readonly Jwk[]): Promise<boolean> {
  const algorithm = typeof header["alg"] === "string" ? ALGORITHMS[header["alg"]] : undefined
  if (!algorithm || header["crit"] !== undefined) return false
  const candidates = keys.filter(
    ({ kid, kty }) => kty === algorithm.kty && (header["kid"] === undefined || header["kid"] === kid),
  )
  const bytes = new TextEncoder().encode(signed)
  for (const { kid: _, use: __, key_ops: ___, alg: ____, ...jwk } of candidates) {
    try {
      const key = await crypto.subtle.importKey("jwk", jwk, algorithm.use, false, ["verify"])
      if (await crypto.subtle.verify(algorithm.by, key, signature, bytes)) return true
    } catch {
      // A key that is none: another may be the one.
    }
  }
  return false
}
