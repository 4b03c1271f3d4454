import { configOf } from "../config/config.ts"
import type { Env } from "../config/env.ts"
import { GatewayError } from "../errors/errors.ts"
import { decodeBase64, toHex } from "../support/text/encoding.ts"

/** The master keys that protect all other secrets, in base64. `previous` only decrypts. */
export type MasterKeys = { current: string; previous: string | undefined }

export const MASTER_KEY_BYTES = 32

export function masterKeysOf(env: Env): MasterKeys {
  return { current: env.MASTER_KEY ?? "", previous: configOf(env).MASTER_KEY_PREVIOUS }
}

const encoder = new TextEncoder()

/** Each purpose has a separate key, derived by HKDF. */
export const purposeOf = (purpose: string) => ({
  name: "HKDF",
  hash: "SHA-256",
  salt: new Uint8Array(),
  info: encoder.encode(`gateway:${purpose}`),
})

async function importMaster(master: string): Promise<CryptoKey> {
  const bytes = decodeBase64(master)
  if (bytes?.byteLength !== MASTER_KEY_BYTES) throw new Error("A master key is not 32 bytes of base64.")
  return crypto.subtle.importKey("raw", bytes, "HKDF", false, ["deriveKey", "deriveBits"])
}

/** Values derived from a master key alone, since every sealed value needs them. */
type Derived = { id?: string; wrapping?: CryptoKey; signing: Map<string, CryptoKey> }
const derived = new Map<string, Derived>()
/** The current and the previous key, twice, in case they change while the isolate runs. */
const MAX_MASTERS = 4

/** Caches values, not promises: a promise belongs to the request that made it. */
function deriveKeys(master: string): Derived {
  const cached = derived.get(master) ?? { signing: new Map<string, CryptoKey>() }
  if (!derived.has(master) && derived.size >= MAX_MASTERS) derived.clear()
  derived.set(master, cached)
  return cached
}

/** The key that seals data keys. */
export async function wrappingKey(master: string): Promise<CryptoKey> {
  return (deriveKeys(master).wrapping ??= await deriveWrappingKey(master))
}

async function deriveWrappingKey(master: string): Promise<CryptoKey> {
  const algorithm = { name: "AES-GCM", length: 256 }
  const secret = await importMaster(master)
  return crypto.subtle.deriveKey(purposeOf("data-keys"), secret, algorithm, false, ["encrypt", "decrypt"])
}

/** A key for one purpose that signs values which clients return. `purpose`: a constant of the code. */
export async function signingKey(master: string, purpose: string): Promise<CryptoKey> {
  const { signing } = deriveKeys(master)
  const cached = signing.get(purpose)
  if (cached) return cached
  const algorithm = { name: "HMAC", hash: "SHA-256", length: 256 }
  const key = await crypto.subtle.deriveKey(purposeOf(purpose), await importMaster(master), algorithm, false, [
    "sign",
    "verify",
  ])
  signing.set(purpose, key)
  return key
}

/** Identifies a master key without revealing it: 32 hex digits. */
export async function masterIdOf(master: string): Promise<string> {
  return (deriveKeys(master).id ??= toHex(
    await crypto.subtle.deriveBits(purposeOf("master-key-id"), await importMaster(master), 128),
  ))
}

/** 32 bytes, deterministic for a master key and a purpose. */
export async function derivedBytes(master: string, purpose: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.deriveBits(purposeOf(purpose), await importMaster(master), 256))
}

/** The operator replaced MASTER_KEY without a rotation, or opened the database of another deployment. */
export function wrongMasterKeyError(owner: "workspace" | "vault"): GatewayError {
  return new GatewayError(
    "misconfigured",
    `The secrets of this ${owner} are encrypted with another MASTER_KEY. The operator sets MASTER_KEY_PREVIOUS to that key, or restores it.`,
  )
}
