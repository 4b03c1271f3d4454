import { masterIdOf, type MasterKeys, purposeOf, wrappingKey } from "./master-key.ts"
import { open, seal } from "./seal.ts"
import type { DataKeyRow } from "./table.ts"

/** A stored data key, sealed under the master key `masterId`. `id`: of its owner. */
export type WrappedKey = Pick<DataKeyRow, "id" | "workspaceId" | "masterId" | "wrapped">

const DATA_KEY_BYTES = 32

type Owner = Pick<WrappedKey, "id" | "workspaceId">

const aadOf = ({ id, workspaceId }: Owner) => ({ kind: "data-key", ownerId: id, workspaceId, name: "", version: "1" })

export async function newDataKey(owner: Owner, { current }: MasterKeys): Promise<WrappedKey> {
  return wrap(owner, crypto.getRandomValues(new Uint8Array(DATA_KEY_BYTES)), current)
}

async function wrap(owner: Owner, bytes: Uint8Array<ArrayBuffer>, master: string): Promise<WrappedKey> {
  const wrapped = await seal(await wrappingKey(master), aadOf(owner), bytes)
  return { id: owner.id, workspaceId: owner.workspaceId, masterId: await masterIdOf(master), wrapped }
}

/** The key that seals its owner's secrets; undefined if no master key of this deployment decrypts it. */
export async function openDataKey(key: WrappedKey, masters: MasterKeys): Promise<CryptoKey | undefined> {
  const bytes = await unwrap(key, masters)
  return bytes && crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"])
}

/** A signing key for one purpose, derived from a data key; undefined if no master key decrypts that one. */
export async function openSigningKey(
  key: WrappedKey,
  purpose: string,
  masters: MasterKeys,
): Promise<CryptoKey | undefined> {
  const bytes = await unwrap(key, masters)
  if (!bytes) return undefined
  const secret = await crypto.subtle.importKey("raw", bytes, "HKDF", false, ["deriveKey"])
  const algorithm = { name: "HMAC", hash: "SHA-256", length: 256 }
  return crypto.subtle.deriveKey(purposeOf(purpose), secret, algorithm, false, ["sign"])
}

async function unwrap(
  key: WrappedKey,
  { current, previous }: MasterKeys,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  for (const master of [current, previous]) {
    if (master === undefined || (await masterIdOf(master)) !== key.masterId) continue
    return open(await wrappingKey(master), aadOf(key), key.wrapped)
  }
  return undefined
}

/** Seals the same key under the current master key. Values sealed with it do not change. */
export async function rewrap(key: WrappedKey, masters: MasterKeys): Promise<WrappedKey | undefined> {
  const bytes = await unwrap(key, masters)
  return bytes && wrap(key, bytes, masters.current)
}
