import { createRoute } from "@hono/zod-openapi"
import { actorOf } from "../audit/actor.ts"
import { requireManagement } from "../access/guards.ts"
import { GatewayError } from "../errors/errors.ts"
import { acceptJson, newRouter } from "../http/router.ts"
import { failures, jsonBody, ok } from "../http/schema.ts"
import { openLedger } from "../ledger/client.ts"
import { requestedWorkspace, workspaceOf } from "../workspaces/requested.ts"
import { EXPORT_FORMATS, exportLines } from "./export.ts"
import { toFileRecord } from "./file.ts"
import { storeFile, newRow } from "./upload/store-file.ts"
import { FileRecord, NewExport } from "./schemas.ts"
import { countGenerations } from "./store.ts"

/** The most that one request can read. */
const MAX_ROWS = 250_000

const create = createRoute({
  method: "post",
  path: "/exports",
  operationId: "createExport",
  tags: ["Files"],
  summary: "Export calls to a file",
  description: "Writes every call that was charged in a period to a file, which GET /files/{file_id}/content returns.",
  middleware: [requireManagement, acceptJson(65_536)] as const,
  request: { body: jsonBody(NewExport) },
  responses: {
    201: ok(FileRecord, "The file."),
    ...failures("invalid_request", "unauthenticated", "forbidden", "not_found", "payload_too_large", "internal"),
  },
})

export const exports = newRouter().openapi(create, async (c) => {
  const { organizationId } = c.var.principal
  const input = c.req.valid("json")
  const { format } = input
  const [from, to] = [Date.parse(input.from), input.to === undefined ? Date.now() : Date.parse(input.to)]
  if (to <= from) throw new GatewayError("invalid_request", "to: must be after from.")
  const workspaceFilter = input.workspace_id
  const workspaceId =
    workspaceFilter === undefined ? null : await requestedWorkspace(c.env.DB, organizationId, workspaceFilter)
  const range = { organizationId, workspaceId, from, to }
  // Pending charges of this isolate are sent to the ledger first.
  await openLedger(c.env, organizationId).balance()
  const rows = await countGenerations(c.env.DB, range)
  if (rows > MAX_ROWS) {
    throw new GatewayError("invalid_request", `to: the range has ${rows} calls, and an export has at most ${MAX_ROWS}.`)
  }
  const { mimeType, extension } = EXPORT_FORMATS[format]
  const days = [input.from, input.to ?? new Date(to).toISOString()].map((instant) => instant.slice(0, 10))
  const filename = `calls-${days.join("-to-")}.${extension}`
  // In the workspace of the key or the requested one, where reads look for it.
  const ownWorkspaceId = workspaceId ?? (await workspaceOf(c.env.DB, c.var.principal, undefined))
  const row = newRow(
    { organizationId, workspaceId: ownWorkspaceId },
    { filename, mimeType, source: "export", internId: null, keyHash: c.var.principal.keyHash },
  )
  const lines = exportLines(c.env.DB, range, format)
  return c.json(
    toFileRecord(await storeFile(c.env, { actor: actorOf(c), row, content: lines, mimeType: () => mimeType })),
    201,
  )
})
