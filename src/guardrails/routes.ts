import { createRoute } from "@hono/zod-openapi"
import type { Context } from "hono"
import * as z from "zod"
import { entryOf } from "../audit/actor.ts"
import { invalidateWorkspace } from "../access/key-cache.ts"
import { requireManagement } from "../access/guards.ts"
import { changesOf } from "../audit/entry.ts"
import { GatewayError } from "../errors/errors.ts"
import { acceptJson, newRouter } from "../http/router.ts"
import { failures, jsonBody, ok } from "../http/schema.ts"
import type { App } from "../access/app.ts"
import { newId } from "../support/ids.ts"
import { requestedWorkspace, workspaceNotFound } from "../workspaces/requested.ts"
import { aliasesOf } from "../workspaces/settings.ts"
import { findWorkspaceRow } from "../workspaces/store.ts"
import { loadReachableCatalogue } from "../models/compile.ts"
import { reachableProviders } from "../providers/configured.ts"
import { namesAnything, withKnownNames } from "../models/known-names.ts"
import { defaultGuardrailId } from "../workspaces/workspace.ts"
import {
  rejectFilters,
  rejectIncompleteLimit,
  rejectUnknownChecks,
  rulesOf,
  AUDITED_FIELDS,
  toGuardrail,
  toRowChange,
} from "./guardrail.ts"
import { rejectTwoSubjects } from "./counted-subject.ts"
import type { GuardrailRow, NewGuardrailRow } from "./table.ts"
import {
  ContentTest,
  ContentTestResponse,
  GuardrailResponse,
  GuardrailChange,
  GuardrailList,
  GuardrailPath,
  GuardrailQuery,
  NewGuardrail,
} from "./schemas.ts"
import {
  deleteGuardrail,
  findGuardrail,
  insertGuardrail,
  listGuardrails,
  listWorkspaceIds,
  updateGuardrail,
} from "./store.ts"
import { contentChecksOf } from "./checks/settings.ts"
import { testChecks } from "./checks/test-checks.ts"
import { testContent } from "./content/test-content.ts"
import { parseStored, withoutNulls } from "../support/text/json.ts"

/** Fits a few filters of maximum length. */
const MAX_BODY_BYTES = 1_048_576
const FAILURES = failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal")
const read = { tags: ["Guardrails"], middleware: [requireManagement] satisfies [typeof requireManagement] }
const write = {
  tags: ["Guardrails"],
  middleware: [requireManagement, acceptJson(MAX_BODY_BYTES)] satisfies [
    typeof requireManagement,
    typeof requireManagement,
  ],
}

const list = createRoute({
  ...read,
  method: "get",
  path: "/guardrails",
  operationId: "listGuardrails",
  summary: "List guardrails",
  description: "Of a workspace, newest first.",
  request: { query: GuardrailQuery },
  responses: { 200: ok(GuardrailList, "The guardrails."), ...FAILURES },
})

const create = createRoute({
  ...write,
  method: "post",
  path: "/guardrails",
  operationId: "createGuardrail",
  summary: "Create a guardrail",
  description: "It enforces nothing until it is assigned to keys or members.",
  request: { body: jsonBody(NewGuardrail) },
  responses: { 201: ok(GuardrailResponse, "The guardrail."), ...FAILURES },
})

const test = createRoute({
  ...write,
  method: "post",
  path: "/guardrails/test",
  operationId: "testGuardrail",
  summary: "Test content filters on a text",
  description: "Those of a guardrail and of the body. No model is called, and external checks only with `run_checks`.",
  request: { body: jsonBody(ContentTest) },
  responses: { 200: ok(ContentTestResponse, "What was found."), ...FAILURES },
})

const get = createRoute({
  ...read,
  method: "get",
  path: "/guardrails/{id}",
  operationId: "getGuardrail",
  summary: "Get a guardrail",
  request: { params: GuardrailPath },
  responses: { 200: ok(GuardrailResponse, "The guardrail."), ...FAILURES },
})

const update = createRoute({
  ...write,
  method: "patch",
  path: "/guardrails/{id}",
  operationId: "updateGuardrail",
  summary: "Update a guardrail",
  description:
    "Omitted fields do not change, lists are replaced completely, null removes a rule. With a workspace's `default_guardrail_id`, creates a missing default guardrail.",
  request: { params: GuardrailPath, body: jsonBody(GuardrailChange) },
  responses: { 200: ok(GuardrailResponse, "The guardrail as it is now."), ...FAILURES, ...failures("conflict") },
})

const remove = createRoute({
  ...read,
  method: "delete",
  path: "/guardrails/{id}",
  operationId: "deleteGuardrail",
  summary: "Delete a guardrail",
  description: "With its assignments.",
  request: { params: GuardrailPath },
  responses: { 200: ok(z.object({ deleted: z.literal(true) }), "Deleted."), ...FAILURES },
})

export const guardrails = newRouter()
  .openapi(list, async (c) => {
    const { organizationId } = c.var.principal
    const query = c.req.valid("query")
    const workspaceId = await requestedWorkspace(c.env.DB, organizationId, query.workspace_id)
    const { rows, total } = await listGuardrails(c.env.DB, organizationId, workspaceId, query)
    return c.json({ data: rows.map(toGuardrail), total_count: total }, 200)
  })
  .openapi(create, async (c) => {
    const { organizationId } = c.var.principal
    const { workspace_id: requested, ...body } = c.req.valid("json")
    rejectIncompleteLimit(body.limit_usd, body.reset_interval)
    rejectTwoSubjects(body)
    const workspaceId = await requestedWorkspace(c.env.DB, organizationId, requested)
    const input = await checkNames(c, workspaceId, body)
    const guardrail = newRow({ id: newId(), organizationId, workspaceId }, input)
    const changed = changesOf(input, AUDITED_FIELDS)
    const entry = entryOf(c, { action: "guardrail.create", resourceId: guardrail.id, workspaceId, changed })
    const row = await insertGuardrail(c.env.DB, guardrail, entry)
    if (!row) throw workspaceNotFound()
    return c.json({ data: toGuardrail(row) }, 201)
  })
  .openapi(test, async (c) => {
    const { guardrail_id: id, run_checks: runsChecks, text, ...inline } = c.req.valid("json")
    rejectFilters(inline.content_filters)
    const deps = { requestId: c.var.requestId, contentChecks: contentChecksOf(c.env) }
    rejectUnknownChecks(inline.content_checks, deps.contentChecks)
    const row = id === undefined ? null : await findGuardrail(c.env.DB, c.var.principal.organizationId, id)
    if (row === undefined) throw noSuchGuardrail()
    const rules = row ? rulesOf(row) : {}
    const both = <T>(stored: readonly T[] | null | undefined, added: readonly T[] | null | undefined) => [
      ...(stored ?? []),
      ...(added ?? []),
    ]
    const result = testContent(
      {
        content_filters: both(rules.content_filters, inline.content_filters),
        content_filter_builtins: both(rules.content_filter_builtins, inline.content_filter_builtins),
      },
      text,
    )
    const due = runsChecks && result.action !== "block" ? both(rules.content_checks, inline.content_checks) : []
    return c.json({ data: { ...result, checks: await testChecks(due, result.text, deps) } }, 200)
  })
  .openapi(get, async (c) => {
    const row = await findGuardrail(c.env.DB, c.var.principal.organizationId, c.req.valid("param").id)
    if (!row) throw noSuchGuardrail()
    return c.json({ data: toGuardrail(row) }, 200)
  })
  .openapi(update, async (c) => {
    const { id } = c.req.valid("param")
    const input = c.req.valid("json")
    const row = (await change(c, id, input)) ?? (await makeDefault(c, id, input))
    invalidateWorkspace(row.workspaceId)
    return c.json({ data: toGuardrail(row) }, 200)
  })
  .openapi(remove, async (c) => {
    const { organizationId } = c.var.principal
    const { id } = c.req.valid("param")
    const row = await findGuardrail(c.env.DB, organizationId, id)
    if (!row) throw noSuchGuardrail()
    const workspaceId = row.workspaceId
    const entry = entryOf(c, { action: "guardrail.delete", resourceId: id, workspaceId })
    if (!(await deleteGuardrail(c.env.DB, organizationId, id, entry))) throw noSuchGuardrail()
    invalidateWorkspace(workspaceId)
    return c.json({ deleted: true as const }, 200)
  })

/** Replaces names of models and providers by their spelling in the catalogue. Rejects unknown checks. */
async function checkNames<T extends GuardrailChange>(c: Context<App>, workspaceId: string, body: T): Promise<T> {
  rejectUnknownChecks(body.content_checks, contentChecksOf(c.env))
  if (body.allow_unknown === true || !namesAnything(body)) return body
  const [catalogue, workspace] = await Promise.all([
    loadReachableCatalogue(c.env),
    findWorkspaceRow(c.env.DB, c.var.principal.organizationId, workspaceId),
  ])
  const aliases = Object.keys(aliasesOf(workspace?.settings ?? null) ?? {})
  return withKnownNames(body, { catalogue, providers: reachableProviders(c.env), aliases })
}

type GuardrailScope = { id: string; organizationId: string; workspaceId: string; isDefault?: boolean }

function newRow(
  { id, organizationId, workspaceId, isDefault }: GuardrailScope,
  input: GuardrailChange,
): NewGuardrailRow {
  const change = toRowChange(input)
  return {
    name: "Default guardrail",
    ...change,
    rules: JSON.stringify(withoutNulls(parseStored(change.rules))),
    id,
    organizationId,
    workspaceId,
    isDefault: isDefault ?? false,
    createdAt: Date.now(),
  }
}

async function change(c: Context<App>, id: string, body: GuardrailChange): Promise<GuardrailRow | undefined> {
  const { organizationId } = c.var.principal
  const before = await findGuardrail(c.env.DB, organizationId, id)
  if (!before) return undefined
  const { workspaceId, limitNano: limit, resetInterval: interval } = before
  rejectIncompleteLimit(
    body.limit_usd === undefined ? limit : body.limit_usd,
    body.reset_interval === undefined ? interval : body.reset_interval,
  )
  rejectTwoSubjects({ ...rulesOf(before), ...body })
  const input = await checkNames(c, workspaceId, body)
  const changed = changesOf(input, AUDITED_FIELDS)
  const entry = entryOf(c, { action: "guardrail.update", resourceId: id, workspaceId, changed })
  const row = await updateGuardrail(c.env.DB, {
    organizationId,
    id,
    change: toRowChange(input),
    now: Date.now(),
    entry,
  }).catch(asConflict)
  if (!row) throw noSuchGuardrail()
  return row
}

/** Creates the default guardrail of a workspace, whose id is known in advance. */
async function makeDefault(c: Context<App>, id: string, body: GuardrailChange): Promise<GuardrailRow> {
  const { organizationId } = c.var.principal
  const ids = await listWorkspaceIds(c.env.DB, organizationId)
  const workspaceId = ids.find((one) => defaultGuardrailId(one) === id)
  if (workspaceId === undefined) throw noSuchGuardrail()
  rejectIncompleteLimit(body.limit_usd, body.reset_interval)
  rejectTwoSubjects(body)
  const input = await checkNames(c, workspaceId, body)
  const guardrail = newRow({ id, organizationId, workspaceId, isDefault: true }, input)
  const changed = changesOf(input, AUDITED_FIELDS)
  const entry = entryOf(c, { action: "guardrail.create", resourceId: id, workspaceId, changed })
  const row = await insertGuardrail(c.env.DB, guardrail, entry).catch(asConflict)
  if (!row) throw noSuchGuardrail()
  return row
}

/**
 * Concurrent changes: another default was created, or half of a limit was removed. Only the message of D1's error shows
 * it.
 */
function asConflict(cause: unknown): never {
  if (!(cause instanceof Error) || !/UNIQUE constraint failed|CHECK constraint failed/.test(cause.message)) throw cause
  throw new GatewayError("conflict", "The guardrail was modified concurrently. Read it and retry.")
}

export function noSuchGuardrail(): GatewayError {
  return new GatewayError("not_found", "There is no guardrail with this id.")
}
