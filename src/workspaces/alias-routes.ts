import { createRoute } from "@hono/zod-openapi"
import type { Context } from "hono"
import { invalidateWorkspace } from "../access/key-cache.ts"
import type { App } from "../access/app.ts"
import { requireManagement } from "../access/guards.ts"
import { entryOf } from "../audit/actor.ts"
import { GatewayError } from "../errors/errors.ts"
import { acceptJson, newRouter } from "../http/router.ts"
import { failures, jsonBody, ok } from "../http/schema.ts"
import { loadReachableCatalogue } from "../models/compile.ts"
import { spellModels } from "../models/known-names.ts"
import { type Alias, type AliasArm, findAlias } from "./alias.ts"
import {
  AliasResponse,
  AliasDeleted,
  AliasInput,
  AliasList,
  AliasPath,
  isRegion,
  MAX_ALIASES,
  WorkspaceAliases,
} from "./alias-schemas.ts"
import { aliasesOf } from "./settings.ts"
import { findForeignKeys, findWorkspaceRow, patchAliases } from "./store.ts"

const PATH = "/workspaces/{workspaceRef}/aliases"
const FAILURES = failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal")
const shared = { tags: ["Workspaces"], middleware: [requireManagement] satisfies [typeof requireManagement] }

const list = createRoute({
  ...shared,
  method: "get",
  path: PATH,
  operationId: "listAliases",
  summary: "List model aliases",
  request: { params: WorkspaceAliases },
  responses: { 200: ok(AliasList, "The aliases, by name."), ...FAILURES },
})

const get = createRoute({
  ...shared,
  method: "get",
  path: `${PATH}/{name}`,
  operationId: "getAlias",
  summary: "Get a model alias",
  request: { params: AliasPath },
  responses: { 200: ok(AliasResponse, "The alias."), ...FAILURES },
})

const put = createRoute({
  ...shared,
  method: "put",
  path: `${PATH}/{name}`,
  operationId: "setAlias",
  summary: "Create or replace a model alias",
  description:
    "Keys of the workspace call the alias like a model. One of its arms is chosen by weight among those whose conditions hold; calls of one session keep their arm.",
  middleware: [requireManagement, acceptJson(65_536)] as const,
  request: { params: AliasPath, body: jsonBody(AliasInput) },
  responses: { 200: ok(AliasResponse, "The alias."), ...FAILURES },
})

const remove = createRoute({
  ...shared,
  method: "delete",
  path: `${PATH}/{name}`,
  operationId: "deleteAlias",
  summary: "Delete a model alias",
  request: { params: AliasPath },
  responses: { 200: ok(AliasDeleted, "Deleted, or did not exist."), ...FAILURES },
})

export const aliases = newRouter()
  .openapi(list, async (c) => {
    const row = await workspaceOf(c, c.req.valid("param").workspaceRef)
    const data = Object.entries(row.aliases).map(([name, alias]) => toAlias(row.id, name, alias))
    return c.json({ data: data.toSorted((a, b) => (a.name < b.name ? -1 : 1)) }, 200)
  })
  .openapi(get, async (c) => {
    const { workspaceRef, name } = c.req.valid("param")
    const row = await workspaceOf(c, workspaceRef)
    const alias = findAlias(row.aliases, name)
    if (!alias) throw new GatewayError("not_found", `The workspace has no alias ${name}.`)
    return c.json({ data: toAlias(row.id, name, alias) }, 200)
  })
  .openapi(put, async (c) => {
    const { workspaceRef, name } = c.req.valid("param")
    const { allow_unknown: allowsUnknown = false, ...alias } = c.req.valid("json")
    const row = await workspaceOf(c, workspaceRef)
    if (!findAlias(row.aliases, name) && Object.keys(row.aliases).length >= MAX_ALIASES) {
      throw new GatewayError("invalid_request", `A workspace has at most ${MAX_ALIASES} aliases. Delete one first.`)
    }
    const hashes = [...new Set(alias.arms.flatMap((arm) => arm.key_hashes ?? []))]
    const { organizationId } = c.var.principal
    const foreign = hashes.length > 0 ? await findForeignKeys(c.env.DB, organizationId, hashes) : []
    if (foreign.length > 0) {
      throw new GatewayError("not_found", `key_hashes: there is no key ${foreign.join(", ")}.`)
    }
    const arms = allowsUnknown ? alias.arms : await withKnownArms(c, alias.arms)
    await change(c, row.id, name, { description: alias.description ?? null, arms })
    return c.json({ data: toAlias(row.id, name, { ...alias, arms }) }, 200)
  })
  .openapi(remove, async (c) => {
    const { workspaceRef, name } = c.req.valid("param")
    const row = await workspaceOf(c, workspaceRef)
    if (findAlias(row.aliases, name)) await change(c, row.id, name, null)
    return c.json({ deleted: true as const }, 200)
  })

/** The arms with their models in the spelling of the catalogue. */
async function withKnownArms<T extends AliasArm>(c: Context<App>, arms: readonly T[]): Promise<T[]> {
  const models = arms.map(({ model }) => model)
  const spelled = spellModels(models, (index) => `arms[${index}].model`, {
    catalogue: await loadReachableCatalogue(c.env),
  })
  return arms.map((arm, index) => ({ ...arm, model: spelled[index] ?? arm.model }))
}

async function change(c: Context<App>, workspaceId: string, name: string, alias: Alias | null): Promise<void> {
  const { organizationId } = c.var.principal
  const action = alias ? "alias.set" : "alias.delete"
  const entry = entryOf(c, { action, resourceId: `${workspaceId}/${name}`, workspaceId })
  await patchAliases(c.env.DB, { organizationId, id: workspaceId, patch: { [name]: alias }, now: Date.now(), entry })
  invalidateWorkspace(workspaceId)
}

async function workspaceOf(c: Context<App>, ref: string) {
  const row = await findWorkspaceRow(c.env.DB, c.var.principal.organizationId, ref)
  if (!row) throw new GatewayError("not_found", "There is no workspace with this id or slug.")
  return { id: row.id, aliases: aliasesOf(row.settings) ?? {} }
}

function toAlias(workspaceId: string, name: string, { description = null, arms }: Alias) {
  return { name, workspace_id: workspaceId, description, arms: arms.map((arm) => toArm(arm)) }
}

function toArm({ regions, key_hashes: keyHashes, ...arm }: Alias["arms"][number]) {
  return {
    ...arm,
    ...(regions && { regions: regions.filter(isRegion) }),
    ...(keyHashes && { key_hashes: [...keyHashes] }),
  }
}
