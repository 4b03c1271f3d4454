import { createRoute } from "@hono/zod-openapi"
import type { Context } from "hono"
import { entryOf } from "../../audit/actor.ts"
import { changesOf } from "../../audit/entry.ts"
import { GatewayError } from "../../errors/errors.ts"
import { acceptJson, newRouter } from "../../http/router.ts"
import { failures, jsonBody, ok } from "../../http/schema.ts"
import type { App } from "../../access/app.ts"
import { requireInternsAccess, requireVaultAccess, visibleIntern } from "../access/access.ts"
import { type CreatorColumns, mayControl, noControlError } from "../access/authority.ts"
import { openIntern } from "../lifecycle/open-intern.ts"
import { masterKeysOf } from "../../secrets/master-key.ts"
import { dataKeyOf } from "../../secrets/workspace-key.ts"
import { logError } from "../../support/log.ts"
import { copySecrets } from "../../vault/copy.ts"
import {
  CopiedSecrets,
  CopyRequest,
  InternPath,
  InternSecretPath,
  NewSecret,
  OneSecret,
  SecretList,
  SecretPath,
  SecretQuery,
} from "../../vault/schemas.ts"
import { openVault, sealSecret, type VaultKeys } from "../../vault/sealing.ts"
import { internVault, toSecret, type Vault, workspaceVault } from "../../vault/secret.ts"
import {
  deleteSecret,
  findUsers,
  isFull,
  listSecrets,
  MAX_SEALED_BYTES,
  MAX_SECRETS,
  putSecrets,
} from "../../vault/store.ts"

const MAX_BODY_BYTES = 1_048_576
const FAILURES = failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal")
const WRITE_FAILURES = { ...FAILURES, ...failures("unavailable") }
const BODY_FAILURES = { ...WRITE_FAILURES, ...failures("payload_too_large", "unsupported_media_type") }
const tags = ["Vault"]
const GONE = { 204: { description: "Deleted." } }

const ofWorkspace: [typeof requireInternsAccess, typeof requireVaultAccess] = [requireInternsAccess, requireVaultAccess]
const ofIntern: [typeof requireInternsAccess] = [requireInternsAccess]
const takesBody = acceptJson(MAX_BODY_BYTES)

const list = createRoute({
  method: "get",
  path: "/vault/secrets",
  operationId: "listVaultSecrets",
  tags,
  summary: "List the secrets of the workspace",
  description: "Names only, without values.",
  middleware: ofWorkspace,
  request: { query: SecretQuery },
  responses: { 200: ok(SecretList), ...FAILURES },
})

const put = createRoute({
  method: "put",
  path: "/vault/secrets/{name}",
  operationId: "storeVaultSecret",
  tags,
  summary: "Create or replace a secret of the workspace",
  description: "Its value is released only to its hosts.",
  middleware: [...ofWorkspace, takesBody] as const,
  request: { params: SecretPath, body: jsonBody(NewSecret) },
  responses: { 200: ok(OneSecret), ...BODY_FAILURES },
})

const remove = createRoute({
  method: "delete",
  path: "/vault/secrets/{name}",
  operationId: "deleteVaultSecret",
  tags,
  summary: "Delete a secret of the workspace",
  description: "For good.",
  middleware: ofWorkspace,
  request: { params: SecretPath },
  responses: { ...GONE, ...WRITE_FAILURES },
})

const INTERN_PATH = "/vault/interns/{internId}/secrets"

const listOfIntern = createRoute({
  method: "get",
  path: INTERN_PATH,
  operationId: "listInternVaultSecrets",
  tags,
  summary: "List the secrets of an intern",
  description: "Secrets of its vault: names only, without values.",
  middleware: ofIntern,
  request: { params: InternPath, query: SecretQuery },
  responses: { 200: ok(SecretList), ...FAILURES },
})

const putOfIntern = createRoute({
  method: "put",
  path: `${INTERN_PATH}/{name}`,
  operationId: "storeInternVaultSecret",
  tags,
  summary: "Create or replace a secret of an intern",
  description: "Its value is released only to its hosts.",
  middleware: [...ofIntern, takesBody] as const,
  request: { params: InternSecretPath, body: jsonBody(NewSecret) },
  responses: { 200: ok(OneSecret), ...BODY_FAILURES },
})

const removeOfIntern = createRoute({
  method: "delete",
  path: `${INTERN_PATH}/{name}`,
  operationId: "deleteInternVaultSecret",
  tags,
  summary: "Delete a secret of an intern",
  description: "For good.",
  middleware: ofIntern,
  request: { params: InternSecretPath },
  responses: { ...GONE, ...WRITE_FAILURES },
})

const copy = createRoute({
  method: "post",
  path: `${INTERN_PATH}/copy`,
  operationId: "copyVaultSecretsToIntern",
  tags,
  summary: "Copy secrets of the workspace to an intern",
  description:
    "Includes their hosts. Copies all named secrets or none. For keys or users that created the intern and stored the secrets, and for management keys.",
  // An intern's own key cannot access the source vault.
  middleware: [...ofWorkspace, takesBody] as const,
  request: { params: InternPath, body: jsonBody(CopyRequest) },
  responses: { 200: ok(CopiedSecrets), ...BODY_FAILURES, ...failures("conflict") },
})

export const vault = newRouter()
  .openapi(list, async (c) => {
    return c.json(await result(c, workspaceVault(c.var.principal), c.req.valid("query")), 200)
  })
  .openapi(put, async (c) => {
    const secret = { ...c.req.valid("param"), ...c.req.valid("json") }
    return c.json(await store(c, workspaceVault(c.var.principal), secret), 200)
  })
  .openapi(remove, async (c) => {
    await drop(c, workspaceVault(c.var.principal), c.req.valid("param").name)
    return c.body(null, 204)
  })
  .openapi(listOfIntern, async (c) => {
    const owned = internVault(await visibleIntern(c, c.req.valid("param").internId))
    return c.json(await result(c, owned, c.req.valid("query")), 200)
  })
  .openapi(putOfIntern, async (c) => {
    const { internId, name } = c.req.valid("param")
    const owned = internVault(await visibleIntern(c, internId))
    return c.json(await store(c, owned, { name, ...c.req.valid("json") }), 200)
  })
  .openapi(removeOfIntern, async (c) => {
    const { internId, name } = c.req.valid("param")
    await drop(c, internVault(await visibleIntern(c, internId)), name)
    return c.body(null, 204)
  })
  .openapi(copy, async (c) => {
    const intern = await visibleIntern(c, c.req.valid("param").internId)
    const target = internVault(intern)
    requireVaultWrites(c)
    if (!mayControl(c.var.principal, intern)) throw noControlError("created this intern")
    const { names } = c.req.valid("json")
    const source = workspaceVault(c.var.principal)
    const changed = { fields: ["names"], values: { names } }
    const event = { action: "vault_secret.copy", resourceId: target.vaultId, changed } as const
    const entry = entryOf(c, { ...event, workspaceId: target.workspaceId })
    const keys = { source: () => openKeys(c, source), target: () => openKeys(c, target) }
    const requireControl = (row: { name: string } & CreatorColumns) => {
      if (!mayControl(c.var.principal, row)) throw noControlError(`stored the secret ${row.name}`)
    }
    const rows = await copySecrets({ db: c.env.DB, source, target, keys, names, entry, requireControl })
    if (!rows) throw await rejectionOf(c, target, 0)
    notifyUsers(c, target)
    return c.json({ data: rows.map(toSecret) }, 200)
  })

async function result(c: Context<App>, vault: Vault, page: SecretQuery) {
  const { rows, total } = await listSecrets(c.env.DB, vault, page)
  return { data: rows.map(toSecret), has_more: page.offset + rows.length < total, total_count: total }
}

async function store(c: Context<App>, vault: Vault, secret: { name: string; hosts: string[]; value: string }) {
  requireVaultWrites(c)
  const { name, ...input } = secret
  const entry = entryOf(c, {
    action: "vault_secret.set",
    resourceId: secretName(vault, name),
    workspaceId: vault.workspaceId,
    changed: changesOf(input, ["hosts"]),
  })
  const row = await sealSecret(await openKeys(c, vault), vault, secret, entry)
  const [put] =
    (await putSecrets(c.env.DB, { vault, rows: [row], sources: { vaultId: vault.vaultId, versions: [] }, entry })) ?? []
  if (!put) throw await rejectionOf(c, vault, row.sealed.length)
  notifyUsers(c, vault)
  return { data: toSecret(put) }
}

async function drop(c: Context<App>, vault: Vault, name: string): Promise<void> {
  requireVaultWrites(c)
  const event = { action: "vault_secret.delete", resourceId: secretName(vault, name) } as const
  const entry = entryOf(c, { ...event, workspaceId: vault.workspaceId })
  if (!(await deleteSecret(c.env.DB, vault, name, entry))) {
    throw new GatewayError("not_found", `There is no secret named ${name} here.`)
  }
  notifyUsers(c, vault)
}

/** Daemons cache secret values. They are notified without delaying the response. */
function notifyUsers(c: Context<App>, vault: Vault): void {
  if (vault.internId === null) return
  const result = findUsers(c.env.DB, vault).then((ids) =>
    Promise.all(ids.map((id) => openIntern(c.env, id).vaultChanged())),
  )
  c.executionCtx.waitUntil(
    result.catch((cause: unknown) => logError("vault change notification failed", { vault: vault.vaultId }, cause)),
  )
}

/** The audit id of a secret: its vault and name. */
function secretName({ vaultId }: Vault, name: string): string {
  return `${vaultId}/${name}`
}

function requireVaultWrites(c: Context<App>): void {
  if (c.var.principal.canWriteVaults) return
  throw new GatewayError("unavailable", "Writing to vaults is disabled for this organization. Reading works.", {
    metadata: { reason: "vault_writes_disabled", retryable: false },
  })
}

async function openKeys(c: Context<App>, vault: Vault): Promise<VaultKeys> {
  const { organizationId, workspaceId, vaultId: id } = vault
  const masters = masterKeysOf(c.env)
  const entry = entryOf(c, { action: "data_key.create", resourceId: id, workspaceId })
  const dataKey = await dataKeyOf(c.env.DB, masters, { organizationId, workspaceId, id }, entry)
  if (!dataKey) throw new GatewayError("not_found", "The workspace of this key no longer exists.")
  return openVault(dataKey, masters)
}

async function rejectionOf(c: Context<App>, vault: Vault, bytes: number): Promise<GatewayError> {
  if (await isFull(c.env.DB, vault, bytes)) {
    const rule = `A vault holds at most ${MAX_SECRETS} secrets and ${MAX_SEALED_BYTES} sealed bytes. Delete some first.`
    return new GatewayError("invalid_request", rule)
  }
  return new GatewayError("not_found", "The vault no longer exists.")
}
