import { sha256Hex, toBase64Url } from "../support/encoding.ts"

export const KEY_PREFIX = "sk-gw-v1-"
/** 256 bits. */
const SECRET_BYTES = 32

/** A new key: the secret, to be shown once and never kept, and what is kept in its place. */
export function newKey(): { secret: string; hash: string; label: string } {
  const secret = KEY_PREFIX + toBase64Url(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)))
  return { secret, hash: hashKey(secret), label: toLabel(secret) }
}

/** The id of a key, and all that is stored of it: SHA-256 in hex. A key has 256 random bits, so no salt is needed. */
export function hashKey(secret: string): string {
  return sha256Hex(secret)
}

/** Enough to recognize a key by, too little to guess it from: `sk-gw-v1-Abc...xyz`; of a foreign key `Abc...xyz`. */
export function toLabel(secret: string): string {
  const shown = secret.startsWith(KEY_PREFIX) ? KEY_PREFIX.length + 3 : 3
  return `${secret.slice(0, shown)}...${secret.slice(-3)}`
}
