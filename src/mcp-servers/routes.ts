import { createRoute } from "@hono/zod-openapi"
import type { Context } from "hono"
import * as z from "zod"
import type { App } from "../access/app.ts"
import { requireManagement } from "../access/guards.ts"
import { actorOf, entryOf } from "../audit/actor.ts"
import { changesOf } from "../audit/entry.ts"
import { GatewayError } from "../errors/errors.ts"
import { acceptJson, newRouter } from "../http/router.ts"
import { failures, jsonBody, ok } from "../http/schema.ts"
import { keptUrl } from "../outbound/masked-url.ts"
import { requireOutboundUrl } from "../outbound/required-url.ts"
import { hostsIn } from "../outbound/settings.ts"
import { newId } from "../support/ids.ts"
import { isUniqueViolation } from "../support/rows.ts"
import { isSameOrigin } from "../support/text/url.ts"
import { requestedWorkspace, workspaceNotFound } from "../workspaces/requested.ts"
import { sealFor } from "../workspaces/seal.ts"
import { findWorkspace } from "../workspaces/store.ts"
import { openHeaders } from "./open-headers.ts"
import * as schemas from "./schemas.ts"
import { AUDITED_FIELDS, headersAad, type McpHeaders, mergeHeaders } from "./server.ts"
import { toColumns, toMcpServer } from "./server.ts"
import {
  deleteMcpServer,
  findMcpServer,
  insertMcpServer,
  type KeyedServer,
  listMcpServers,
  MAX_SERVERS,
  type McpScope,
  updateMcpServer,
} from "./store.ts"
import type { McpServerRow } from "./table.ts"

const MAX_BODY_BYTES = 262_144

const tags = ["MCP"]
const One = z.object({ data: schemas.McpServer })
const FAILURES = failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal")
const onePath = { params: schemas.McpServerPath, query: schemas.McpWorkspaceQuery }

const list = createRoute({
  method: "get",
  path: "/mcp-servers",
  operationId: "listMcpServers",
  tags,
  summary: "List MCP servers",
  description: "Of a workspace, newest first.",
  middleware: [requireManagement] as const,
  request: { query: schemas.McpServersQuery },
  responses: { 200: ok(z.object({ data: z.array(schemas.McpServer), total_count: z.int() })), ...FAILURES },
})

const create = createRoute({
  method: "post",
  path: "/mcp-servers",
  operationId: "createMcpServer",
  tags,
  summary: "Register an MCP server",
  description:
    "Keys of the workspace reach it at `/mcp/{server}`. A key may call only tools that its `mcp_tools` names.",
  middleware: [requireManagement, acceptJson(MAX_BODY_BYTES)] as const,
  request: { body: jsonBody(schemas.NewMcpServer) },
  responses: { 201: ok(One, "The server, with masked headers."), ...FAILURES, ...failures("conflict") },
})

const get = createRoute({
  method: "get",
  path: "/mcp-servers/{slug}",
  operationId: "getMcpServer",
  tags,
  summary: "Get an MCP server",
  middleware: [requireManagement] as const,
  request: onePath,
  responses: { 200: ok(One), ...FAILURES },
})

const update = createRoute({
  method: "patch",
  path: "/mcp-servers/{slug}",
  operationId: "updateMcpServer",
  tags,
  summary: "Update an MCP server",
  description:
    "`headers` is replaced completely; a masked value keeps the stored one. New headers or a new `url` end its sessions.",
  middleware: [requireManagement, acceptJson(MAX_BODY_BYTES)] as const,
  request: { ...onePath, body: jsonBody(schemas.McpServerChange) },
  responses: { 200: ok(One), ...FAILURES, ...failures("conflict") },
})

const remove = createRoute({
  method: "delete",
  path: "/mcp-servers/{slug}",
  operationId: "deleteMcpServer",
  tags,
  summary: "Delete an MCP server",
  description: "With its headers.",
  middleware: [requireManagement] as const,
  request: onePath,
  responses: { 200: ok(z.object({ deleted: z.literal(true) })), ...FAILURES },
})

export const mcpServerRoutes = newRouter()
  .openapi(list, async (c) => {
    const query = c.req.valid("query")
    const { rows, total } = await listMcpServers(c.env.DB, await scopeOf(c, query.workspace_id), query)
    return c.json({ data: await Promise.all(rows.map((server) => result(c, server))), total_count: total }, 200)
  })
  .openapi(create, async (c) => {
    const { workspace_id: requested, slug, headers, ...input } = c.req.valid("json")
    requireOutboundUrl("url", input.url, hostsIn(c.env, "PRIVATE_HOSTS"))
    const scope = await scopeOf(c, requested)
    const serverRow = { ...scope, id: newId(), slug, createdAt: Date.now(), updatedAt: null }
    const merged = mergeHeaders({}, headers ?? {})
    const defaults = { allowedTools: null, priceNano: 0, toolPrices: {}, enabled: true }
    const timeoutMs = schemas.DEFAULT_TIMEOUT_SECONDS * 1_000
    const { name, url } = input
    const row = {
      name,
      url,
      timeoutMs,
      ...defaults,
      ...toColumns(input),
      ...serverRow,
      ...(await toSealed(c, serverRow, merged)),
    }
    const changed = changesOf({ slug, headers, ...input }, AUDITED_FIELDS)
    const event = { resourceId: slug, workspaceId: scope.workspaceId, changed }
    const entry = entryOf(c, { action: "mcp_server.create", ...event })
    if (!(await insertMcpServer(c.env.DB, row, entry).catch(rejectDuplicate))) throw await rejectionOf(c, scope)
    return c.json({ data: toMcpServer(row, merged) }, 201)
  })
  .openapi(get, async (c) => {
    const scope = await scopeOf(c, c.req.valid("query").workspace_id)
    return c.json({ data: await result(c, await find(c, scope, c.req.valid("param").slug)) }, 200)
  })
  .openapi(update, async (c) => {
    const { headers, ...sent } = c.req.valid("json")
    const scope = await scopeOf(c, c.req.valid("query").workspace_id)
    const before = await find(c, scope, c.req.valid("param").slug)
    const input = { ...sent, ...(sent.url !== undefined && { url: keptUrl(sent.url, before.row.url) }) }
    if (input.url !== undefined) requireOutboundUrl("url", input.url, hostsIn(c.env, "PRIVATE_HOSTS"))
    const openedHeaders = await openHeaders(before, c.env)
    const isMoved = input.url !== undefined && !isSameOrigin(input.url, before.row.url)
    if (isMoved && headers === undefined && Object.keys(openedHeaders ?? {}).length > 0) throw needsHeadersAgain()
    const after =
      headers === undefined ? openedHeaders : mergeHeaders((isMoved ? undefined : openedHeaders) ?? {}, headers ?? {})
    const isOther = headers !== undefined || (input.url !== undefined && input.url !== before.row.url)
    const sealed = isOther && after ? await toSealed(c, before.row, after) : {}
    const change = { ...toColumns(input), ...sealed, updatedAt: Date.now() }
    const changed = changesOf({ headers, ...input }, AUDITED_FIELDS)
    const event = { resourceId: before.row.slug, workspaceId: scope.workspaceId, changed }
    const entry = entryOf(c, { action: "mcp_server.update", ...event })
    const row = await updateMcpServer(c.env.DB, { scope, before: before.row, change, entry })
    if (!row) {
      // Deleted or changed concurrently: the merged headers are outdated.
      await find(c, scope, before.row.slug)
      throw new GatewayError("conflict", "This MCP server was modified concurrently. Read it and retry.")
    }
    return c.json({ data: toMcpServer(row, after ?? {}) }, 200)
  })
  .openapi(remove, async (c) => {
    const { slug } = c.req.valid("param")
    const scope = await scopeOf(c, c.req.valid("query").workspace_id)
    const entry = entryOf(c, { action: "mcp_server.delete", resourceId: slug, workspaceId: scope.workspaceId })
    if (!(await deleteMcpServer(c.env.DB, scope, slug, entry))) throw noSuchServer(slug)
    return c.json({ deleted: true as const }, 200)
  })

async function scopeOf(c: Context<App>, requested: string | undefined): Promise<McpScope> {
  const { organizationId } = c.var.principal
  return { organizationId, workspaceId: await requestedWorkspace(c.env.DB, organizationId, requested) }
}

async function find(c: Context<App>, scope: McpScope, slug: string): Promise<KeyedServer> {
  const found = await findMcpServer(c.env.DB, scope, slug)
  if (!found) throw noSuchServer(slug)
  return found
}

async function result(c: Context<App>, server: KeyedServer): Promise<z.infer<typeof schemas.McpServer>> {
  return toMcpServer(server.row, (await openHeaders(server, c.env)) ?? {})
}

type Owner = Pick<McpServerRow, "id" | "organizationId" | "workspaceId">

async function toSealed(
  c: Context<App>,
  owner: Owner,
  headers: McpHeaders,
): Promise<Pick<McpServerRow, "sealed" | "version">> {
  const version = newId()
  const aad = headersAad({ ...owner, version })
  const sealed = await sealFor(c.env, actorOf(c), aad, JSON.stringify(headers))
  return { sealed, version }
}

async function rejectionOf(c: Context<App>, { organizationId, workspaceId }: McpScope): Promise<GatewayError> {
  if (!(await findWorkspace(c.env.DB, organizationId, workspaceId))) return workspaceNotFound()
  return new GatewayError(
    "conflict",
    `A workspace has at most ${MAX_SERVERS} MCP servers. Delete one that is no longer used.`,
  )
}

/** Headers for one host are not sent to another, which could read them. */
function needsHeadersAgain(): GatewayError {
  return new GatewayError("invalid_request", "url: has another host. Send headers again, or null for none.")
}

export function noSuchServer(slug: string): GatewayError {
  return new GatewayError("not_found", `There is no MCP server ${slug} in this workspace.`)
}

function rejectDuplicate(cause: unknown): never {
  if (isUniqueViolation(cause)) {
    throw new GatewayError("conflict", "slug: is already used by another MCP server of this workspace.")
  }
  throw cause
}
