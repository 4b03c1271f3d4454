import { OpenAPIHono } from "@hono/zod-openapi"
import type { MiddlewareHandler } from "hono"
import { getPath } from "hono/utils/url"
import type * as z from "zod"
import type { App } from "../access/app.ts"
import { readAtMost } from "../support/bytes.ts"
import { isArray, isObject, parseJson } from "../support/text/json.ts"
import { GatewayError } from "../errors/errors.ts"
import { deploymentOf } from "./paths.ts"
import { explain, fieldOf } from "./schema.ts"

/**
 * The router of a capability. app/app.ts, which mounts it, decides whether its routes need a key. `relaysText`: bodies
 * go on to providers, which decide about their text; other bodies are stored, and a database replaces what is not
 * Unicode.
 */
export function newRouter({ relaysText = false } = {}): OpenAPIHono<App> {
  return new OpenAPIHono<App>({
    defaultHook: (result) => {
      if (result.success) {
        if (result.target === "json" && !relaysText) requireUnicode(result.data)
        return
      }
      const { error, target } = result
      // A record with such an id cannot exist, and operations with an id in their path have 404 for that.
      const code = target === "param" && error.issues.every(isAboutId) ? "not_found" : "invalid_request"
      throw new GatewayError(code, explain(error), { messagesDetails: detailsOf(error) })
    },
  })
}

const isAboutId = (issue: z.core.$ZodIssue) =>
  issue.code === "invalid_format" && (issue.format === "uuid" || issue.path[0] === "hash")

/** The details that a schema gives to clients of the Messages format. */
function detailsOf({ issues }: { issues: readonly z.core.$ZodIssue[] }): unknown {
  return issues.map((issue) => (issue.code === "custom" ? issue.params?.["messagesDetails"] : undefined)).find(Boolean)
}

function requireUnicode(body: unknown): void {
  const path = pathOfIllFormed(body)
  if (!path) return
  const rule = "must be well-formed Unicode, without halves of surrogate pairs"
  throw new GatewayError("invalid_request", `${fieldOf(path)}: ${rule}.`)
}

/** The path of the first text or key with half of a surrogate pair. */
function pathOfIllFormed(value: unknown): PropertyKey[] | undefined {
  if (typeof value === "string") return value.isWellFormed() ? undefined : []
  if (!isObject(value) && !isArray(value)) return undefined
  for (const [key, item] of Object.entries(value)) {
    const path = key.isWellFormed() ? pathOfIllFormed(item) : []
    if (path) return [isArray(value) ? Number(key) : key, ...path]
  }
  return undefined
}

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i

/**
 * Rejects a body that is not declared as JSON (415) or is larger than `maxBytes` (413), before it is parsed. A body
 * without a length is counted while it is read, because its sender may not stop at the limit.
 */
export function acceptJson(maxBytes: number): MiddlewareHandler<App> {
  return acceptBody(maxBytes, undefined)
}

/** The same, but also accepts a form. */
export function acceptJsonOrForm(maxBytes: number): MiddlewareHandler<App> {
  return acceptBody(maxBytes, FORM_TYPE)
}

const FORM_TYPE = /^multipart\/form-data\s*;/i

function acceptBody(maxBytes: number, alternative: RegExp | undefined): MiddlewareHandler<App> {
  return async function acceptBody(c, next) {
    const { body, headers } = c.req.raw
    const declared = headers.get("content-length")
    // A server may provide an empty body instead of none.
    if (!body || declared === "0") {
      c.req.raw = withoutBody(c.req.raw)
      return next()
    }
    const type = headers.get("content-type") ?? ""
    const isForm = alternative?.test(type) ?? false
    if (!isForm && !JSON_TYPE.test(type)) {
      throw new GatewayError("unsupported_media_type", "Send the body as JSON, with Content-Type: application/json.")
    }
    // The validator rejects parameters of the media type, which are harmless.
    if (!isForm && type !== "application/json") c.req.raw = withJsonType(c.req.raw)
    if (declared === null) {
      const bytes = await readAtMost(c.req.raw.body ?? body, maxBytes)
      if (!bytes) throw tooLargeError(maxBytes)
      const isEmpty = bytes.byteLength === 0
      c.req.raw = isEmpty ? withoutBody(c.req.raw) : new Request(c.req.raw, { method: c.req.method, body: bytes })
    } else if (Number(declared) > maxBytes) throw tooLargeError(maxBytes)
    const deployment = isForm ? undefined : deploymentOf(getPath(c.req.raw))
    if (deployment !== undefined) c.req.raw = await withModel(c.req.raw, deployment)
    return next()
  }
}

function withJsonType(request: Request): Request {
  const headers = new Headers(request.headers)
  headers.set("content-type", "application/json")
  return new Request(request, { headers })
}

/** A body that is not a JSON object stays as it is, for the error of the validator. */
async function withModel(request: Request, model: string): Promise<Request> {
  const text = await request.text()
  const parsed = parseJson(text)
  const body = isObject(parsed) ? JSON.stringify({ ...parsed, model }) : text
  const headers = new Headers(request.headers)
  headers.set("content-length", String(new TextEncoder().encode(body).byteLength))
  return new Request(request, { method: request.method, headers, body })
}

/**
 * Some clients declare a type without sending a body. The validator would parse one of that type, and handlers would
 * take an empty stream for a body.
 */
function withoutBody(request: Request): Request {
  if (!request.body && !request.headers.has("content-type")) return request
  const headers = new Headers(request.headers)
  headers.delete("content-type")
  const { cf, method, signal, url } = request
  return new Request(url, { method, headers, signal, ...(cf && { cf }) })
}

function tooLargeError(maxBytes: number): GatewayError {
  return new GatewayError(
    "payload_too_large",
    `The body is larger than the maximum of ${maxBytes} bytes for this path.`,
  )
}
