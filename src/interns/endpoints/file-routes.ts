import { createRoute } from "@hono/zod-openapi"
import type { Context } from "hono"
import * as z from "zod"
import type { App } from "../../access/app.ts"
import { acceptJson, newRouter } from "../../http/router.ts"
import { failures, jsonBody, ok } from "../../http/schema.ts"
import { toFileRecord } from "../../files/file.ts"
import { FileRecord } from "../../files/schemas.ts"
import { readAtMost } from "../../support/bytes.ts"
import { HOME, MAX_FILE_BYTES, resolvePath } from "../embedded/home.ts"
import { publishFile } from "../embedded/publish.ts"
import { MAX_INTERN_BODY_BYTES } from "../access/guards.ts"
import { openIntern } from "../lifecycle/open-intern.ts"
import { internError } from "../lifecycle/reasons.ts"
import { internParams } from "../routes.ts"
import { CONTROL_FAILURES, CONTROL_RIGHTS, controlGuards, controlledIntern } from "../lifecycle/control.ts"
import type { InternRow } from "../table.ts"

const tags = ["Interns"]
const common = { ...CONTROL_FAILURES, ...failures("conflict") }
const description = `${CONTROL_RIGHTS} Only for interns on the embedded host: files of other agents are on their machines.`

const onePath = z.strictObject({
  path: z
    .string()
    .min(1)
    .max(1_024)
    .meta({ description: `Below ${HOME}: absolute, or relative to it.` }),
})

const list = createRoute({
  method: "get",
  path: "/interns/{internId}/files",
  operationId: "listInternFiles",
  tags,
  summary: "List the files of an intern",
  description,
  middleware: [...controlGuards] as const,
  request: { params: internParams },
  responses: {
    200: ok(z.object({ data: z.array(z.object({ path: z.string(), bytes: z.int() })) })),
    ...common,
  },
})

const download = createRoute({
  method: "get",
  path: "/interns/{internId}/files/content",
  operationId: "readInternFile",
  tags,
  summary: "Read a file of an intern",
  description,
  middleware: [...controlGuards] as const,
  request: { params: internParams, query: onePath },
  responses: {
    200: {
      description: "The bytes.",
      content: { "application/octet-stream": { schema: z.string().meta({ format: "binary" }) } },
    },
    ...common,
  },
})

const upload = createRoute({
  method: "put",
  path: "/interns/{internId}/files/content",
  operationId: "writeInternFile",
  tags,
  summary: "Write a file of an intern",
  description: `The body is the file, at most 1 MiB. ${description}`,
  middleware: [...controlGuards] as const,
  request: { params: internParams, query: onePath },
  responses: { 200: ok(z.object({ path: z.string(), bytes: z.int() })), ...common, ...failures("payload_too_large") },
})

const remove = createRoute({
  method: "delete",
  path: "/interns/{internId}/files/content",
  operationId: "deleteInternFile",
  tags,
  summary: "Delete a file of an intern",
  description,
  middleware: [...controlGuards] as const,
  request: { params: internParams, query: onePath },
  responses: { 200: ok(z.object({ deleted: z.literal(true) })), ...common },
})

const publish = createRoute({
  method: "post",
  path: "/interns/{internId}/files/publish",
  operationId: "publishInternFile",
  tags,
  summary: "Publish a file of an intern",
  description: `Copies it to the files of its workspace (GET /files). ${description}`,
  middleware: [...controlGuards, acceptJson(MAX_INTERN_BODY_BYTES)] as const,
  request: { params: internParams, body: jsonBody(onePath.meta({ id: "InternFilePath" })) },
  responses: { 201: ok(FileRecord), ...common, ...failures("payload_too_large", "unsupported_media_type") },
})

export const internFiles = newRouter()
  .openapi(list, async (c) => {
    const { id } = await internWithFiles(c, c.req.valid("param").internId)
    return c.json({ data: await openIntern(c.env, id).files() }, 200)
  })
  .openapi(download, async (c) => {
    const { id } = await internWithFiles(c, c.req.valid("param").internId)
    const content = await openIntern(c.env, id).readFile(toAbsolutePath(c.req.valid("query").path))
    if (!content) throw noFile()
    const headers = {
      "content-type": "application/octet-stream",
      "content-disposition": "attachment",
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    }
    return new Response(content, { headers })
  })
  .openapi(upload, async (c) => {
    const { id } = await internWithFiles(c, c.req.valid("param").internId)
    const path = toAbsolutePath(c.req.valid("query").path)
    const { body } = c.req.raw
    const content = body ? await readAtMost(body, MAX_FILE_BYTES) : new Uint8Array(0)
    if (!content) throw internError("payload_too_large", `A file may have at most ${MAX_FILE_BYTES} bytes.`)
    const fault = await openIntern(c.env, id).writeFile(path, content)
    if (fault !== undefined) throw internError("intern_rejected", fault)
    return c.json({ path, bytes: content.byteLength }, 200)
  })
  .openapi(remove, async (c) => {
    const { id } = await internWithFiles(c, c.req.valid("param").internId)
    if (!(await openIntern(c.env, id).deleteFile(toAbsolutePath(c.req.valid("query").path)))) throw noFile()
    return c.json({ deleted: true } as const, 200)
  })
  .openapi(publish, async (c) => {
    const row = await internWithFiles(c, c.req.valid("param").internId)
    const path = toAbsolutePath(c.req.valid("json").path)
    const content = await openIntern(c.env, row.id).readFile(path)
    if (!content) throw noFile()
    return c.json(toFileRecord(await publishFile(c.env, row, path, content)), 201)
  })

async function internWithFiles(c: Context<App>, id: string): Promise<InternRow> {
  const row = await controlledIntern(c, id)
  if (row.host === "embedded") return row
  throw internError("intern_rejected", "The files of this intern are on the machine of its agent, not in the gateway.")
}

function toAbsolutePath(path: string): string {
  const found = resolvePath(path)
  if (found === undefined || found === HOME) throw internError("invalid_body", `path: must be of a file below ${HOME}.`)
  return found
}

function noFile() {
  return internError("not_found", "This intern has no file at this path.")
}
