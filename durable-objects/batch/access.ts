import { batchesOf } from "../../src/batches/batches-of.ts"
import type { ProviderBatches } from "../../src/batches/providers/provider-batch.ts"
import { findCredential } from "../../src/byok/store.ts"
import type { ByokCredential } from "../../src/byok/usable-credentials.ts"
import { openByokCredential } from "../../src/policy/byok-routes.ts"
import { configuredProviders, reachableProviders } from "../../src/providers/configured.ts"
import type { ProviderDeps } from "./deps.ts"
import type { Part } from "./parts.ts"

/** Batch API of the provider with the API key of a part, or the reason why the key cannot be used. */
export type Access =
  | { isOpen: true; batches: ProviderBatches; credential: ByokCredential | undefined }
  /** `isFinal`: the key cannot become usable again. `message` is for the owner of the credential. */
  | { isOpen: false; isFinal: boolean; message: string | null }

type AccessDeps = Pick<ProviderDeps, "row" | "provider" | "env">

/** Reads the credential each time, so that a disabled or deleted one is not used. */
export async function accessTo({ credential: id }: Part, { row, provider: slug, env }: AccessDeps): Promise<Access> {
  if (id === null) {
    const provider = configuredProviders(env).get(slug)
    if (!provider) return { isOpen: false, isFinal: true, message: null }
    return { isOpen: true, batches: batchesOf({ provider, isByok: false }, row), credential: undefined }
  }
  const provider = reachableProviders(env).get(slug)
  const found = await findCredential(env.DB, row, id)
  const name = `The workspace's credential for ${provider?.name ?? slug}`
  if (!provider) return { isOpen: false, isFinal: true, message: `${slug} is no longer configured.` }
  if (!found || found.state === "deleted") {
    return { isOpen: false, isFinal: true, message: `${name} was deleted.` }
  }
  const { credential, state } = found
  if (state === "disabled") {
    return { isOpen: false, isFinal: false, message: `${name} is disabled. Enable it at PATCH /byok/{id}.` }
  }
  const apiKey = await openByokCredential(credential, env)
  if (apiKey === undefined) return { isOpen: false, isFinal: false, message: `${name} could not be decrypted.` }
  return { isOpen: true, batches: batchesOf({ provider: { ...provider, apiKey }, isByok: true }, row), credential }
}

/** The request format of the provider, which is the same for every key. */
export function apiFormOf({ row, provider: slug, env }: AccessDeps): Pick<ProviderBatches, "toLine"> | undefined {
  const provider = reachableProviders(env).get(slug)
  return provider && batchesOf({ provider, isByok: false }, row)
}
