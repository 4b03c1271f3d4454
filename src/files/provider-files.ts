import { callerOf } from "../policy/call-policy.ts"
import type { Principal } from "../access/principal.ts"
import { usableCredentials } from "../byok/usable-credentials.ts"
import { openByokCredential } from "../policy/byok-routes.ts"
import { GatewayError } from "../errors/errors.ts"
import type { Env } from "../config/env.ts"
import { isObject, type Json, objectsOf } from "../support/json.ts"
import { credentialHeader } from "../providers/upstream-request.ts"
import { reachableProviders } from "../providers/configured.ts"
import type { Provider } from "../providers/provider.ts"
import { toRejection } from "../providers/refusal.ts"
import { readAtMost } from "../support/bytes.ts"
import type * as z from "zod"
import type { FilesQuery, ProviderFileResponse } from "./schemas.ts"

/** Files in a vendor's storage, with the workspace's key for it. The gateway stores nothing of them. */

export type FileProvider = "openai" | "anthropic"
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024
const MAX_ERROR_BYTES = 65_536
/** Headers that Anthropic's file API requires. */
const ANTHROPIC_HEADERS = { "anthropic-version": "2023-06-01", "anthropic-beta": "files-api-2025-04-14" }

/** The vendor with the workspace's BYOK credential. The gateway's own key is never used for files. */
export async function fileProviderFor(slug: FileProvider, principal: Principal, env: Env): Promise<Provider> {
  if (principal.internId !== null) {
    throw new GatewayError("forbidden", "provider: an intern's own key sees only the files that its intern made.")
  }
  const keys = usableCredentials(callerOf(principal)).filter(({ provider }) => provider === slug)
  const [key] = keys.toSorted((a, b) => Number(a.isFallback) - Number(b.isFallback))
  const provider = reachableProviders(env).get(slug)
  if (!key || !provider) {
    throw new GatewayError(
      "forbidden",
      `provider: this workspace has no credential for ${slug} that this key may use. Add one at POST /byok.`,
    )
  }
  const apiKey = await openByokCredential(key, env)
  if (apiKey === undefined) {
    throw new GatewayError("unavailable", `The workspace's credential for ${slug} could not be decrypted.`)
  }
  return { ...provider, apiKey }
}

export type ProviderFileRequest = {
  method: string
  path: string
  body?: ReadableStream<Uint8Array> | null
  contentType?: string
}

/** Sends a request to the vendor. Throws its rejection with a message that contains no key. */
export async function requestProvider(
  provider: Provider,
  sent: ProviderFileRequest,
  signal: AbortSignal,
): Promise<Response> {
  const { method, path, body = null, contentType } = sent
  const headers = {
    "user-agent": "edge-model-gateway",
    ...(provider.slug === "anthropic" && ANTHROPIC_HEADERS),
    ...(contentType !== undefined && { "content-type": contentType }),
    ...credentialHeader(provider),
  }
  const init = { method, headers, body, redirect: "manual" as const, signal }
  const response = await fetch(`${provider.baseUrl}${path}`, init).catch(() => undefined)
  if (!response) throw new GatewayError("provider_failed", `${provider.name} could not be reached.`)
  if (response.ok) return response
  throw await refusalOf(provider, response)
}

async function refusalOf(provider: Provider, response: Response): Promise<GatewayError> {
  const bytes = response.body && (await readAtMost(response.body, MAX_ERROR_BYTES).catch(() => undefined))
  const { status, headers } = response
  const body = new TextDecoder().decode(bytes ?? new Uint8Array())
  const refusal = toRejection(provider, { status, headers, body }, { now: Date.now() })
  if (!refusal.blamesKey) {
    return new GatewayError(refusal.code, refusal.message, { metadata: { provider_code: String(status) } })
  }
  const rule = `${provider.name} rejected the workspace's BYOK credential with status ${status}. Check it, or change it at PATCH /byok/{id}.`
  return new GatewayError("forbidden", rule, { metadata: { provider_code: String(status) } })
}

export async function readJson(provider: Provider, response: Response): Promise<Json> {
  const bytes = response.body && (await readAtMost(response.body, MAX_RESPONSE_BYTES))
  try {
    const result: unknown = JSON.parse(new TextDecoder().decode(bytes ?? new Uint8Array()))
    if (isObject(result)) return result
  } catch {
    // Reported below.
  }
  throw new GatewayError("provider_failed", `${provider.name} returned a body that is not JSON.`)
}

/** The cursor of a page under the vendor's parameter name. */
export function toProviderQuery(
  vendor: FileProvider,
  { limit, after, after_id: afterId, before_id: beforeId, order, purpose, cursor }: FilesQuery,
) {
  const query = new URLSearchParams({ limit: String(limit) })
  const from = after ?? afterId ?? cursor
  if (from !== undefined) query.set(vendor === "openai" ? "after" : "after_id", from)
  if (beforeId !== undefined && vendor === "anthropic") query.set("before_id", beforeId)
  if (order !== undefined && vendor === "openai") query.set("order", order)
  if (purpose !== undefined && vendor === "openai") query.set("purpose", purpose)
  return query.toString()
}

const text = (value: unknown, fallback = "") => (typeof value === "string" ? value : fallback)
const toInteger = (value: unknown) => (typeof value === "number" && Number.isSafeInteger(value) ? value : 0)

type ProviderFile = z.infer<typeof ProviderFileResponse>

/** A vendor's file record, with the fields that clients require. */
export function toProviderFile(vendor: FileProvider, file: Json): ProviderFile {
  if (vendor === "anthropic") {
    return {
      _shape: "anthropic",
      id: text(file["id"]),
      type: "file",
      filename: text(file["filename"]),
      mime_type: text(file["mime_type"], "application/octet-stream"),
      size_bytes: toInteger(file["size_bytes"]),
      downloadable: file["downloadable"] === true,
      created_at: text(file["created_at"]),
    }
  }
  return {
    _shape: "openai",
    id: text(file["id"]),
    object: "file",
    filename: text(file["filename"]),
    bytes: toInteger(file["bytes"]),
    purpose: text(file["purpose"], "user_data"),
    status: "processed",
    created_at: toInteger(file["created_at"]),
  }
}

export function toProviderPage(vendor: FileProvider, page: Json): ProviderFile {
  const data = objectsOf(page["data"]).map((file) => toProviderFile(vendor, file))
  return {
    _shape: vendor,
    ...(vendor === "openai" && { object: "list" }),
    data,
    first_id: data[0]?.["id"] ?? null,
    last_id: data.at(-1)?.["id"] ?? null,
    has_more: page["has_more"] === true,
  }
}

export function toProviderDeleted(vendor: FileProvider, id: string): ProviderFile {
  return vendor === "openai"
    ? { _shape: vendor, id, object: "file", deleted: true }
    : { _shape: vendor, id, type: "file_deleted" }
}

/** The client's form unchanged, after the field that OpenAI requires before the file. */
export function toProviderForm(vendor: FileProvider, body: ReadableStream<Uint8Array>, boundary: string) {
  if (vendor === "anthropic") return body
  const field = `--${boundary}\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nuser_data\r\n`
  const { readable, writable } = new IdentityTransformStream()
  const writer = writable.getWriter()
  const pump = writer
    .write(new TextEncoder().encode(field))
    .then(() => writer.releaseLock())
    .then(() => body.pipeTo(writable))
  // The vendor rejects a form that ends early.
  pump.catch(() => undefined)
  return readable
}
