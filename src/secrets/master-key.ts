import { configOf } from "../config/config.ts"
import type { Env } from "../config/env.ts"
import { decodeBase64, toHex } from "../support/encoding.ts"

/** The secrets that all others hang on, in base64. `previous` is read, and seals nothing new. */
export type Masters = { current: string; previous: string | undefined }

export const MASTER_KEY_BYTES = 32

export function mastersOf(env: Env): Masters {
  return { current: env.MASTER_KEY ?? "", previous: configOf(env).MASTER_KEY_PREVIOUS }
}

const encoder = new TextEncoder()

/** No key is used for two things: each purpose has one of its own, by HKDF. */
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

/** What hangs on a master key alone, by that key: each is wanted with every sealed value. */
const derived = new Map<string, { id?: string; wrapping?: CryptoKey }>()
/** The current one and the previous one, and as many again where they change while this runs. */
const MAX_MASTERS = 4

/** Values only: a promise belongs to the request that made it. */
function derivedOf(master: string): { id?: string; wrapping?: CryptoKey } {
  const known = derived.get(master) ?? {}
  if (!derived.has(master) && derived.size >= MAX_MASTERS) derived.clear()
  derived.set(master, known)
  return known
}

/** The key that seals data keys. */
export async function wrappingKey(master: string): Promise<CryptoKey> {
  return (derivedOf(master).wrapping ??= await deriveWrappingKey(master))
}

async function deriveWrappingKey(master: string): Promise<CryptoKey> {
  const algorithm = { name: "AES-GCM", length: 256 }
  const secret = await importMaster(master)
  return crypto.subtle.deriveKey(purposeOf("data-keys"), secret, algorithm, false, ["encrypt", "decrypt"])
}

/** A key that signs what is to come back unchanged, for one purpose. */
export async function signingKey(master: string, purpose: string): Promise<CryptoKey> {
  const algorithm = { name: "HMAC", hash: "SHA-256", length: 256 }
  return crypto.subtle.deriveKey(purposeOf(purpose), await importMaster(master), algorithm, false, ["sign", "verify"])
}

/** Tells master keys apart without telling anything of them: 32 hex digits. */
export async function masterIdOf(master: string): Promise<string> {
  return (derivedOf(master).id ??= toHex(
    await crypto.subtle.deriveBits(purposeOf("master-key-id"), await importMaster(master), 128),
  ))
}

/** 32 bytes that are always the same for a master key and a purpose. */
export async function derivedBytes(master: string, purpose: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.deriveBits(purposeOf(purpose), await importMaster(master), 256))
}
