import type { Principal } from "../access/principal.ts"
import { matcher } from "../support/text/wildcard.ts"
import type { WrappedKey } from "../secrets/data-key.ts"
import type { ByokRow } from "./table.ts"
import type { Provider } from "../providers/provider.ts"

/** A credential as loaded with the keys of its workspace: everything that routing reads, and the sealed key. */
export type ByokCredential = {
  id: string
  workspaceId: string
  provider: string
  version: string
  sealed: string
  dataKey: WrappedKey
  isByokOnly: boolean
  isFallback: boolean
  isRequired: boolean
  declaredZdr: boolean | null
  declaredRegion: ByokRow["declaredRegion"]
  /** Lowest first; credentials of equal order share the calls. */
  sortOrder: number
  allowedKeyHashes: readonly string[] | null
  allowedModels: readonly string[] | null
  allowedUserIds: readonly string[] | null
}

export function toByokCredential(
  row: ByokRow,
  { masterId, wrapped }: Pick<WrappedKey, "masterId" | "wrapped">,
): ByokCredential {
  const { id, workspaceId, provider, version, sealed, isByokOnly, isFallback, isRequired, declaredZdr, sortOrder } = row
  return {
    id,
    workspaceId,
    provider,
    version,
    sealed,
    dataKey: { id: workspaceId, workspaceId, masterId, wrapped },
    isByokOnly,
    isFallback,
    isRequired,
    declaredZdr,
    declaredRegion: row.declaredRegion,
    sortOrder,
    allowedKeyHashes: row.allowedApiKeyHashes,
    allowedModels: row.allowedModels,
    allowedUserIds: row.allowedUserIds,
  }
}

/** The credentials that a principal may use, for any model. */
export function usableCredentials({
  byok,
  keyHash,
  creatorUserId,
}: Pick<Principal, "keyHash" | "creatorUserId"> & { byok: readonly ByokCredential[] }): ByokCredential[] {
  return byok.filter(
    ({ allowedKeyHashes, allowedUserIds }) =>
      (allowedKeyHashes?.includes(keyHash) ?? true) &&
      (allowedUserIds === null || (creatorUserId !== null && allowedUserIds.includes(creatorUserId))),
  )
}

/** For a call that was already sent with this credential: restrictions apply to new calls only. */
export function withoutRestrictions(credential: ByokCredential): ByokCredential {
  return { ...credential, allowedKeyHashes: null, allowedModels: null, allowedUserIds: null }
}

/** The provider for calls with a credential, in the region that its organization declares. */
export function inDeclaredRegion(provider: Provider, { declaredRegion }: ByokCredential): Provider {
  if (declaredRegion === null || declaredRegion === "global") return provider
  return { ...provider, regions: [declaredRegion] }
}

/** The keys for one provider: credentials in their order, and whether the gateway's key is used between them. */
export type CredentialOrder = { first: ByokCredential[]; shared: boolean; last: ByokCredential[] }

/**
 * `keys`: usable credentials of the principal. A BYOK-only credential excludes the gateway's key for every model of the
 * provider, a required one for the models that it covers.
 */
export function credentialOrder(provider: string, model: string, keys: readonly ByokCredential[]): CredentialOrder {
  const ofProvider = keys.filter((key) => key.provider === provider)
  const covering = ofProvider.filter(({ allowedModels }) => allowedModels === null || matcher(allowedModels)(model))
  return {
    first: covering.filter(({ isFallback }) => !isFallback),
    shared: !ofProvider.some(({ isByokOnly }) => isByokOnly) && !covering.some(({ isRequired }) => isRequired),
    last: covering.filter(({ isFallback }) => isFallback),
  }
}
/** The principal's credentials, and the providers that can be reached with them. */

export type ByokRoutes = { keys: readonly ByokCredential[]; providers: ReadonlyMap<string, Provider> }
