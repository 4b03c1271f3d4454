import { createRoute } from "@hono/zod-openapi"
import type { Context } from "hono"
import * as z from "zod"
import { actorOf, entryOf } from "../audit/actor.ts"
import { GatewayError } from "../errors/errors.ts"
import { newRouter } from "../http/router.ts"
import { failures, ok } from "../http/schema.ts"
import type { App } from "../access/app.ts"
import { resourceScopeOf } from "../access/principal.ts"
import { hasIdForm } from "../support/ids.ts"
import { workspaceOf } from "../workspaces/requested.ts"
import { limitBytes } from "./bytes.ts"
import { FILE_PREFIX, isDownloadable, MAX_FILE_BYTES, toFilename } from "./file.ts"
import { isOpenAiClient, toDeleted, toFile, toPage } from "./openai-file.ts"
import { storeFile, newRow } from "./upload/store-file.ts"
import { boundaryOf, readFilePart } from "./upload/multipart.ts"
import {
  FileDeleted,
  FilePage,
  FilePath,
  FileRecord,
  FilesQuery,
  ProviderFilesQuery,
  ProviderFileResponse,
} from "./schemas.ts"
import { type FileScope, findFile, listFiles } from "./store.ts"
import { deleteStored, openStored } from "./stored-file.ts"
import { inspect } from "./upload/upload.ts"
import { readUploadFields } from "./upload/upload-fields.ts"
import {
  requestProvider,
  readJson,
  toProviderDeleted,
  toProviderFile,
  toProviderForm,
  toProviderPage,
  toProviderQuery,
  fileStorageFor,
  withPurpose,
} from "./provider-files.ts"
import { screenDownload, screenUpload } from "./provider-screening.ts"

const tags = ["Files"]
const COMMON = ["unauthenticated", "forbidden", "not_found", "rate_limited", "internal"] as const
const FAILURES = failures("invalid_request", ...COMMON, "provider_failed", "unavailable")

const upload = createRoute({
  method: "post",
  path: "/files",
  operationId: "uploadFile",
  tags,
  summary: "Upload a file",
  description:
    "A form with a part `file` of at most 100 MB. With a part `purpose`, the record has the format of OpenAI's API. " +
    "`expires_after[anchor]` (`created_at`) and `expires_after[seconds]` (3600 to 2592000) delete it after that time.",
  request: { query: ProviderFilesQuery },
  responses: {
    200: ok(z.union([FileRecord, ProviderFileResponse])),
    ...FAILURES,
    ...failures("payload_too_large", "unsupported_media_type"),
  },
})

const list = createRoute({
  method: "get",
  path: "/files",
  operationId: "listFiles",
  tags,
  summary: "List files",
  description: "Of a workspace, oldest first unless `order` is `desc`. Clients of OpenAI's API get its format.",
  request: { query: FilesQuery },
  responses: { 200: ok(z.union([FilePage, ProviderFileResponse])), ...FAILURES },
})

const retrieve = createRoute({
  method: "get",
  path: "/files/{file_id}",
  operationId: "retrieveFile",
  summary: "Get a file",
  tags,
  request: { params: FilePath, query: ProviderFilesQuery },
  responses: { 200: ok(z.union([FileRecord, ProviderFileResponse])), ...FAILURES },
})

const remove = createRoute({
  method: "delete",
  path: "/files/{file_id}",
  operationId: "deleteFile",
  summary: "Delete a file",
  tags,
  request: { params: FilePath, query: ProviderFilesQuery },
  responses: { 200: ok(z.union([FileDeleted, ProviderFileResponse])), ...FAILURES },
})

const content = createRoute({
  method: "get",
  path: "/files/{file_id}/content",
  operationId: "downloadFile",
  tags,
  summary: "Download a file",
  description: "Only for files that the gateway made; uploads cannot be downloaded.",
  request: { params: FilePath, query: ProviderFilesQuery },
  responses: {
    200: { description: "The bytes.", content: { "application/octet-stream": { schema: z.unknown() } } },
    ...FAILURES,
  },
})

export const files = newRouter()
  .openapi(upload, async (c) => {
    const { provider: vendor, workspace_id: requested } = c.req.valid("query")
    const boundary = boundaryOf(c.req.header("content-type") ?? "")
    const { body } = c.req.raw
    if (boundary === undefined || !body) {
      throw new GatewayError(
        "unsupported_media_type",
        "Send a form, multipart/form-data, with the file in its part `file`.",
      )
    }
    if (Number(c.req.header("content-length") ?? 0) > MAX_FILE_BYTES + FORM_BYTES) throw tooLargeError()
    if (vendor) {
      const storage = await fileStorageFor(vendor, { ...c.var, requested }, c.env)
      const { screening } = storage
      const contentType = `multipart/form-data; boundary=${boundary}`
      const form = screening
        ? { body: withPurpose(vendor, await screenUpload(body, contentType, screening)) }
        : { body: toProviderForm(vendor, body, boundary), contentType }
      const sent = { method: "POST", path: "/files", ...form }
      const result = await readJson(storage, await requestProvider(storage, sent, c.req.raw.signal))
      return c.json(toProviderFile(vendor, result), 200)
    }
    const scope = await scopeOf(c, requested)
    const part = await readFilePart(body, boundary)
    if (!part) throw new GatewayError("invalid_request", "file: is required as a form part with a file name.")
    const filename = toFilename(part.filename)
    const { content, mimeType } = await inspect(limitBytes(part.content, MAX_FILE_BYTES, tooLargeError), filename)
    const { keyHash, internId } = c.var.principal
    const row = newRow(scope, { filename, mimeType: mimeType(), source: "upload", internId, keyHash })
    const fields = async () => readUploadFields(await part.fields())
    const stored = await storeFile(c.env, { actor: actorOf(c), row, content, mimeType, fields })
    return c.json(toFile(stored, c.req.raw.headers), 200)
  })
  .openapi(list, async (c) => {
    const query = c.req.valid("query")
    const { provider: vendor, workspace_id: requested, limit } = query
    if (vendor) {
      const storage = await fileStorageFor(vendor, { ...c.var, requested }, c.env)
      const sent = { method: "GET", path: `/files?${toProviderQuery(vendor, query)}` }
      const result = await readJson(storage, await requestProvider(storage, sent, c.req.raw.signal))
      return c.json(toProviderPage(vendor, result), 200)
    }
    if (query.before_id !== undefined) {
      throw new GatewayError("invalid_request", "before_id: this storage lists forwards only. Use cursor.")
    }
    const { order = "asc", purpose } = query
    const after = positionIn(query)
    const rows = await listFiles(c.env.DB, await scopeOf(c, requested), { after, limit, order, purpose })
    const isOpenAi = purpose !== undefined || isOpenAiClient(c.req.raw.headers)
    return c.json(toPage(rows, limit, isOpenAi), 200)
  })
  .openapi(retrieve, async (c) => {
    const { file_id: id } = c.req.valid("param")
    const { provider: vendor, workspace_id: requested } = c.req.valid("query")
    if (vendor) {
      const storage = await fileStorageFor(vendor, { ...c.var, requested }, c.env)
      const response = await requestProvider(storage, { method: "GET", path: `/files/${id}` }, c.req.raw.signal)
      return c.json(toProviderFile(vendor, await readJson(storage, response)), 200)
    }
    const row = await findFile(c.env.DB, await scopeOf(c, requested), id)
    if (!row) throw noSuchFile()
    return c.json(toFile(row, c.req.raw.headers), 200)
  })
  .openapi(remove, async (c) => {
    const { file_id: id } = c.req.valid("param")
    const { provider: vendor, workspace_id: requested } = c.req.valid("query")
    if (vendor) {
      const storage = await fileStorageFor(vendor, { ...c.var, requested }, c.env)
      const response = await requestProvider(storage, { method: "DELETE", path: `/files/${id}` }, c.req.raw.signal)
      await response.body?.cancel()
      return c.json(toProviderDeleted(vendor, id), 200)
    }
    const scope = await scopeOf(c, requested)
    const entry = entryOf(c, { action: "file.delete", resourceId: id, workspaceId: scope.workspaceId })
    const row = await deleteStored(c.env, { scope, id, now: Date.now(), entry })
    if (!row) throw noSuchFile()
    return c.json(toDeleted(row, c.req.raw.headers), 200)
  })
  .openapi(content, async (c) => {
    const { file_id: id } = c.req.valid("param")
    const { provider: vendor, workspace_id: requested } = c.req.valid("query")
    if (vendor) {
      const storage = await fileStorageFor(vendor, { ...c.var, requested }, c.env)
      const sent = { method: "GET", path: `/files/${id}/content` }
      const { body } = await requestProvider(storage, sent, c.req.raw.signal)
      const { screening } = storage
      return new Response(screening?.readsOutput ? await screenDownload(body, screening) : body, { headers: BYTES })
    }
    const row = await findFile(c.env.DB, await scopeOf(c, requested), id)
    if (!row) throw noSuchFile()
    if (!isDownloadable(row)) {
      throw new GatewayError(
        "invalid_request",
        "This file was uploaded: only files that the gateway made can be downloaded.",
      )
    }
    const object = await openStored(c.env.FILES, row)
    const name = encodeURIComponent(row.filename)
    return new Response(object.body, {
      headers: {
        ...BYTES,
        "content-length": String(object.size),
        "content-disposition": `attachment; filename*=UTF-8''${name}`,
      },
    })
  })

/** Browsers must not render the file: its content is untrusted. */
const BYTES = {
  "content-type": "application/octet-stream",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
}
/** Size of a form without its file. */
const FORM_BYTES = 65_536

/** The file after which a page begins. It may be deleted by now. */
function positionIn(query: FilesQuery): string | undefined {
  for (const field of ["cursor", "after", "after_id"] as const) {
    const id = query[field]
    if (id === undefined) continue
    if (hasIdForm(FILE_PREFIX, id)) return id
    throw new GatewayError("invalid_request", `${field}: must be the cursor of a page, or the id of a file.`)
  }
  return undefined
}

async function scopeOf(c: Context<App>, requested: string | undefined): Promise<FileScope> {
  const { principal } = c.var
  const workspaceId = await workspaceOf(c.env.DB, principal, requested)
  return { ...resourceScopeOf(principal), workspaceId, mayExport: principal.kind === "management" }
}

function tooLargeError(): GatewayError {
  return new GatewayError("payload_too_large", `file: must be at most ${MAX_FILE_BYTES} bytes.`)
}

function noSuchFile(): GatewayError {
  return new GatewayError("not_found", "There is no file with this id in this workspace.")
}
