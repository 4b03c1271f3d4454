import { clientIpOf } from "../http/request/client-ip.ts"
import { countUnknownKey, throttleUnknownKeys } from "../access/flood.ts"
import { hashKey } from "../access/key.ts"
import { findKnownConnectLinks } from "../access/known-keys-store.ts"
import type { Principal } from "../access/principal.ts"
import { originOf } from "../audit/actor.ts"
import { newEntry } from "../audit/entry.ts"
import type { Env } from "../config/env.ts"
import { BASE_PATH } from "../http/paths.ts"
import { regionOf } from "../http/request/region.ts"
import { loadAccess } from "../policy/store.ts"
import { modelsOf } from "../routing/callable-models.ts"
import { masterKeysOf } from "../secrets/master-key.ts"
import { findDataKey } from "../secrets/store.ts"
import { openSealed } from "../secrets/workspace-key.ts"
import { MAX_MODELS } from "./clients.ts"
import { secretAad, keyRevoked, modelOf, noSuchLink } from "./link.ts"
import type { RedeemedLink } from "./schemas.ts"
import { findOpenLink, takeLink } from "./store.ts"
import type { ConnectLinkRow } from "./table.ts"

/** The part of a request context that is used here. */
type RequestContext = { env: Env; req: { raw: Request }; var: { requestId: string } }

/**
 * Redeems the link: the API key and its settings, once. Everything that can fail runs before the delete: a failed
 * redemption does not use the link.
 */
export async function redeemLink(c: RequestContext, token: string): Promise<RedeemedLink> {
  const now = Date.now()
  const hash = hashKey(token)
  const ip = clientIpOf(c.req.raw, c.env)
  const requested = { kind: "connect link", key: hash }
  await throttleUnknownKeys(ip, requested, (hashes) => findKnownConnectLinks(c.env.DB, hashes), now)
  const link = await findOpenLink(c.env.DB, hash, now)
  if (!link) {
    await countUnknownKey(c.env.RATE, ip, now)
    throw noSuchLink()
  }
  const principal = await workingKey(c.env.DB, link.keyHash, now)
  if (!principal) throw keyRevoked()
  const models = await textModels(c, principal)
  const model = modelOf(link.client, link.model, models)
  const secret = await openSecret(c, link)
  const { label, creatorUserId, organizationId, workspaceId, keyHash } = principal
  const actor = { organizationId, keyHash, label, creatorUserId, ...originOf(c) }
  const changed = { fields: ["client"], values: { client: link.client, key_hash: keyHash } }
  const entry = newEntry(actor, { action: "connect_link.redeem", resourceId: link.id, workspaceId, changed })
  if (!(await takeLink(c.env.DB, { hash, now, entry }))) throw noSuchLink()
  const origin = new URL(c.req.raw.url).origin
  const listed = [model, ...models.filter((id) => id !== model)].slice(0, MAX_MODELS)
  return { client: link.client, api_key: secret, base_url: `${origin}${BASE_PATH}`, model, models: listed }
}

/** Read from the database, not the cache: a key that was just revoked must not be handed over. */
export async function workingKey(db: D1Database, keyHash: string, now: number): Promise<Principal | undefined> {
  const principal = await loadAccess(db, keyHash)
  return principal && (principal.expiresAt === null || principal.expiresAt > now) ? principal : undefined
}

/** The text models that the key may call. */
export async function textModels(c: RequestContext, principal: Principal): Promise<string[]> {
  const { data } = await modelsOf({ env: c.env, url: c.req.raw.url, region: regionOf(c.req.raw, c.env) }, principal, {
    output_modalities: ["text"],
  })
  return data.map(({ id }) => id)
}

async function openSecret(c: RequestContext, link: ConnectLinkRow): Promise<string> {
  const scope = { organizationId: link.organizationId, workspaceId: link.workspaceId }
  const dataKey = await findDataKey(c.env.DB, scope, link.workspaceId)
  const sealed = dataKey && { aad: secretAad(link), sealed: link.sealed, dataKey }
  const secret = sealed && (await openSealed(sealed, masterKeysOf(c.env)))
  if (secret === undefined) throw new Error("The secret of a link could not be decrypted.")
  return secret
}
