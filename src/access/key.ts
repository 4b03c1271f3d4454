import { sha256Hex, toBase64Url } from "../support/text/encoding.ts"

export const KEY_PREFIX = "sk-gw-v1-"
/** 256 bits. */
const SECRET_BYTES = 32

/** A new key: the secret, which is shown once and never stored, with the hash and label to store. */
export function newKey(): { secret: string; hash: string; label: string } {
  const secret = KEY_PREFIX + toBase64Url(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)))
  return { secret, hash: hashKey(secret), label: toLabel(secret) }
}

/** The id and only stored form of a key: SHA-256 in hex. A key has 256 random bits, so no salt is needed. */
export function hashKey(secret: string): string {
  return sha256Hex(secret)
}

/** Masks a key so that it can be recognized but not guessed: `sk-gw-v1-Abc...xyz`; foreign keys: `Abc...xyz`. */
export function toLabel(secret: string): string {
  const prefixLength = secret.startsWith(KEY_PREFIX) ? KEY_PREFIX.length + 3 : 3
  return `${secret.slice(0, prefixLength)}...${secret.slice(-3)}`
}
