import { decodeBase64, toBase64Url } from "../support/text/encoding.ts"

/**
 * Authenticated context of a sealed value. A row that is copied to another owner, renamed or replaced by an older
 * version cannot be decrypted.
 */
export type AssociatedData = { kind: string; ownerId: string; workspaceId: string; name: string; version: string }

/** 96 bits, the size that GCM requires. Random nonces of one key collide after about 2^32 values. */
const NONCE_BYTES = 12
const encoder = new TextEncoder()

const parametersOf = (
  nonce: Uint8Array<ArrayBuffer>,
  { kind, ownerId, workspaceId, name, version }: AssociatedData,
) => ({
  name: "AES-GCM",
  iv: nonce,
  additionalData: encoder.encode(JSON.stringify([kind, ownerId, workspaceId, name, version])),
})

/** Encrypts a value for storage: URL-safe base64 of a nonce and the ciphertext. `key`: AES-256-GCM. */
export async function seal(key: CryptoKey, aad: AssociatedData, plain: Uint8Array<ArrayBuffer>): Promise<string> {
  const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES))
  const ciphertext = new Uint8Array(await crypto.subtle.encrypt(parametersOf(nonce, aad), key, plain))
  const sealed = new Uint8Array(NONCE_BYTES + ciphertext.byteLength)
  sealed.set(nonce)
  sealed.set(ciphertext, NONCE_BYTES)
  return toBase64Url(sealed)
}

/** Decrypts a sealed value; undefined if the value or its owner was changed. */
export async function open(
  key: CryptoKey,
  aad: AssociatedData,
  sealed: string,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const bytes = decodeBase64(sealed)
  if (!bytes || bytes.byteLength <= NONCE_BYTES) return undefined
  try {
    const parameters = parametersOf(bytes.slice(0, NONCE_BYTES), aad)
    return new Uint8Array(await crypto.subtle.decrypt(parameters, key, bytes.slice(NONCE_BYTES)))
  } catch {
    return undefined
  }
}

export function sealText(key: CryptoKey, aad: AssociatedData, plain: string): Promise<string> {
  return seal(key, aad, Uint8Array.from(encoder.encode(plain)))
}

export async function openText(key: CryptoKey, aad: AssociatedData, sealed: string): Promise<string | undefined> {
  const plain = await open(key, aad, sealed)
  return plain && new TextDecoder().decode(plain)
}
