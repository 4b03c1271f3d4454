import { sha256Hex, toBase64Url } from "../support/encoding.ts"

/** 256 bits. */
const SECRET_BYTES = 32

/** A token that is shown once, and what is kept in its place: 256 random bits need no salt. */
function newToken(prefix: string): { secret: string; hash: string } {
  const secret = prefix + toBase64Url(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)))
  return { secret, hash: sha256Hex(secret) }
}

/** With which a daemon dials in. */
export function newJoinToken() {
  return newToken("intern-join-")
}

/** With which the daemon of a running intern is reached. */
export function newAccessToken() {
  return newToken("intern-access-")
}
