import { createRoute } from "@hono/zod-openapi"
import type { Context } from "hono"
import * as z from "zod"
import { invalidateKey, invalidateOrganization } from "../access/key-cache.ts"
import { actorOf } from "../audit/actor.ts"
import { requireOperator } from "../access/guards.ts"
import { changesOf, newEntry } from "../audit/entry.ts"
import { GatewayError } from "../errors/errors.ts"
import { openLedger } from "../ledger/client.ts"
import { usdToNano } from "../money/money.ts"
import { acceptJson, newRouter } from "../http/router.ts"
import { failures, jsonBody, ok, uuidParam } from "../http/schema.ts"
import { mintKey } from "../keys/key.ts"
import type { App } from "../access/app.ts"
import { newId } from "../support/ids.ts"
import { configuredJurisdiction } from "./jurisdiction.ts"
import { NewOrganization, Organization, OrganizationChange, OrganizationRights } from "./schemas.ts"
import { insertOrganization, updateRights } from "./store.ts"

const create = createRoute({
  method: "post",
  path: "/organizations",
  operationId: "createOrganization",
  tags: ["Organization"],
  summary: "Create an organization",
  description:
    "With a default workspace, an owner, a management key and a normal key. For the deployment's bootstrap management key only.",
  middleware: [requireOperator, acceptJson(65_536)] as const,
  request: { body: jsonBody(NewOrganization) },
  responses: {
    201: ok(z.object({ data: Organization }), "The organization, with its two keys."),
    ...failures("invalid_request", "unauthenticated", "forbidden", "internal"),
  },
})

const update = createRoute({
  method: "patch",
  path: "/organizations/{id}",
  operationId: "updateOrganization",
  tags: ["Organization"],
  summary: "Update the rights of an organization",
  description:
    "Whether it may have interns, and write to vaults. For the deployment's bootstrap management key only. Keys in use follow within five seconds.",
  middleware: [requireOperator, acceptJson(65_536)] as const,
  request: {
    params: z.object({ id: uuidParam("an organization") }),
    body: jsonBody(OrganizationChange),
  },
  responses: {
    200: ok(z.object({ data: OrganizationRights })),
    ...failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal"),
  },
})

export const organizations = newRouter()
  .openapi(create, async (c) => c.json({ data: await makeOrganization(c, c.req.valid("json")) }, 201))
  .openapi(update, async (c) => {
    const { id } = c.req.valid("param")
    const input = c.req.valid("json")
    const changed = changesOf(input, ["interns_programme", "vault_writes"])
    const actor = { ...actorOf(c), organizationId: id }
    const entry = newEntry(actor, { action: "organization.update", resourceId: id, workspaceId: null, changed })
    const change = { internsProgramme: input.interns_programme, vaultWrites: input.vault_writes }
    const row = await updateRights(c.env.DB, id, change, entry)
    if (!row) throw new GatewayError("not_found", "There is no organization with this id.")
    invalidateOrganization(id)
    return c.json({ data: { id, interns_programme: row.internsProgramme, vault_writes: row.vaultWrites } }, 200)
  })

async function makeOrganization(c: Context<App>, input: NewOrganization) {
  const [id, workspaceId, ownerId] = [newId(), newId(), newId()]
  const now = Date.now()
  const minter = { ...c.var.principal, organizationId: id, creatorUserId: ownerId }
  const management = mintKey({ name: "Management key", kind: "management" }, minter, workspaceId, now)
  const normal = mintKey({ name: "First key" }, minter, workspaceId, now)

  const rows = [management.row, normal.row]
  const actor = { ...actorOf(c), organizationId: id }
  const changed = changesOf(input, ["name", "starting_balance_usd"])
  const entries = [
    newEntry(actor, { action: "organization.create", resourceId: id, workspaceId: null, changed }),
    ...rows.map(({ hash, name, kind }) => {
      const changed = changesOf({ name, kind }, ["name", "kind"])
      return newEntry(actor, { action: "api_key.create", resourceId: hash, workspaceId, changed })
    }),
  ]
  const ownerEmail = input.owner_email?.toLowerCase() ?? null
  const jurisdiction = configuredJurisdiction(c.env)
  const organization = {
    id,
    name: input.name,
    ownerId,
    ownerEmail,
    workspaceId,
    keys: rows,
    createdAt: now,
    jurisdiction,
  }
  await insertOrganization(c.env.DB, organization, entries)
  await openLedger(c.env, id).credit("starting-balance", usdToNano(input.starting_balance_usd))
  // The first organization becomes the home of the bootstrap key.
  if (c.var.principal.organizationId === "") invalidateKey(c.var.principal.keyHash)
  const data = {
    id,
    name: input.name,
    workspace_id: workspaceId,
    owner_user_id: ownerId,
    management_key: management.secret ?? "",
    api_key: normal.secret ?? "",
  }
  return data
}
