import { type DeadlineResult, withDeadline } from "../outbound/deadline.ts"
import { callerOf } from "../policy/call-policy.ts"
import { isConfined, type Principal } from "../access/principal.ts"
import { findByokCredentials } from "../byok/store.ts"
import { usableCredentials } from "../byok/usable-credentials.ts"
import { openByokCredential } from "../policy/byok-routes.ts"
import { GatewayError } from "../errors/errors.ts"
import type { Env } from "../config/env.ts"
import { type Timers, timersOf } from "../config/timers.ts"
import { isArray, isObject, type Json, objectsOf } from "../support/text/json.ts"
import { credentialHeader } from "../providers/upstream-request.ts"
import { mayBlock } from "../guardrails/applied.ts"
import { contentChecksOf } from "../guardrails/checks/settings.ts"
import type { Screening } from "../guardrails/screening.ts"
import { screeningOf } from "../guardrails/create-screening.ts"
import { requireStorageAllowed } from "./provider-screening.ts"
import { reachableProviders } from "../providers/configured.ts"
import { type Provider, providerUrl } from "../providers/provider.ts"
import { fetchReadable } from "../providers/responses/readable-body.ts"
import { toRejection } from "../providers/responses/rejection.ts"
import { readAtMost } from "../support/bytes.ts"
import { workspaceOf } from "../workspaces/requested.ts"
import type * as z from "zod"
import { withField } from "./upload/multipart.ts"
import type { FilesQuery, ProviderFileResponse } from "./schemas.ts"

/** Files in a vendor's storage, with the workspace's key for it. The gateway stores nothing of them. */

export type FileProvider = "openai" | "anthropic"
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024
const MAX_ERROR_BYTES = 65_536
/** Headers that Anthropic's file API requires. */
const ANTHROPIC_HEADERS = { "anthropic-version": "2023-06-01", "anthropic-beta": "files-api-2025-04-14" }

/** `screening`: content filters of the guardrails of the key. `timers`: for a record, and for the bytes of a file. */
export type FileStorage = {
  provider: Provider
  screening: Screening | undefined
  timers: Pick<Timers, "firstFrameMs" | "totalMs">
}

/** `requested`: the id of a workspace of which a management key uses the credential. */
type StorageOf = { principal: Principal; requestId: string; requested: string | undefined }

/** The vendor with the workspace's BYOK credential. The gateway's own key is never used for files. */
export async function fileStorageFor(
  slug: FileProvider,
  { principal, requestId, requested }: StorageOf,
  env: Env,
): Promise<FileStorage> {
  if (isConfined(principal)) {
    const rule = "provider: a key of an intern, an app or the free tier sees only files that it made in the gateway."
    throw new GatewayError("forbidden", rule)
  }
  const caller = callerOf(principal)
  const { guardrails, organizationId } = caller
  const workspaceId = await workspaceOf(env.DB, principal, requested)
  const isOwn = workspaceId === caller.workspaceId
  const byok = isOwn ? caller.byok : await findByokCredentials(env.DB, { organizationId, workspaceId })
  const keys = usableCredentials({ ...caller, byok }).filter(({ provider }) => provider === slug)
  const [key] = keys.toSorted((a, b) => Number(a.isFallback) - Number(b.isFallback))
  const provider = reachableProviders(env).get(slug)
  if (!key || !provider) {
    throw new GatewayError(
      "forbidden",
      `provider: this workspace has no credential for ${slug} that this key may use. Add one at POST /byok.`,
    )
  }
  requireStorageAllowed(guardrails, provider)
  // Flags of files would be reported nowhere.
  const isFiltered = guardrails && mayBlock(guardrails)
  const apiKey = await openByokCredential(key, env)
  if (apiKey === undefined) {
    throw new GatewayError("unavailable", `The workspace's credential for ${slug} could not be decrypted.`)
  }
  const screening = isFiltered
    ? screeningOf(guardrails, { wantsMetadata: false, requestId, contentChecks: contentChecksOf(env) })
    : undefined
  return { provider: { ...provider, apiKey }, screening, timers: timersOf(env) }
}

export type ProviderFileRequest = {
  method: string
  path: string
  /** A stream needs its `contentType`. */
  body?: ReadableStream<Uint8Array> | FormData | null
  contentType?: string
}

const CONTENT_PATH = /\/content$/

/** Sends a request to the vendor. Throws its rejection with a message that contains no key. */
export async function requestProvider(
  { provider, screening, timers }: FileStorage,
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
  const hasContent = body !== null || CONTENT_PATH.test(path)
  const init = { method, headers, body, redirect: "manual" as const }
  const send = (ended: AbortSignal) =>
    fetchReadable(providerUrl(provider, path), { ...init, signal: ended }).catch(() => undefined)
  const sending = await withDeadline(hasContent ? timers.totalMs : timers.firstFrameMs, signal, send)
  const response = "value" in sending ? sending.value : undefined
  if (!response) throw "stopped" in sending ? timeoutError(provider) : unreachableError(provider)
  if (response.ok) return response
  throw await rejectionOf(provider, response, await readWithin(timers, response, MAX_ERROR_BYTES), screening)
}

/** The body of a response, as far as it arrives in time. Undefined if it is larger, or its connection fails. */
async function readWithin(
  { firstFrameMs }: Pick<Timers, "firstFrameMs">,
  { body }: Response,
  maxBytes: number,
): Promise<DeadlineResult<Uint8Array | undefined>> {
  if (!body) return { value: new Uint8Array() }
  const never = new AbortController().signal
  return withDeadline(firstFrameMs, never, (signal) => readAtMost(body, maxBytes, signal).catch(() => undefined))
}

const timeoutError = ({ name }: Provider) => new GatewayError("timeout", `${name} did not respond in time.`)
const unreachableError = ({ name }: Provider) => new GatewayError("provider_failed", `${name} could not be reached.`)

async function rejectionOf(
  provider: Provider,
  { status, headers }: Response,
  read: DeadlineResult<Uint8Array | undefined>,
  screening: Screening | undefined,
): Promise<GatewayError> {
  const body = new TextDecoder().decode("value" in read ? read.value : undefined)
  const filter = screening?.providerMessage
  const rejection = toRejection(provider, { status, headers, body }, { now: Date.now(), filter })
  if (!rejection.blamesKey) {
    return new GatewayError(rejection.code, rejection.message, { metadata: { provider_code: String(status) } })
  }
  const rule = `${provider.name} rejected the workspace's BYOK credential with status ${status}. Check it, or change it at PATCH /byok/{id}.`
  return new GatewayError("forbidden", rule, { metadata: { provider_code: String(status) } })
}

/** A JSON response with the names of its files after the content filters. */
export async function readJson({ provider, screening, timers }: FileStorage, response: Response): Promise<Json> {
  const read = await readWithin(timers, response, MAX_RESPONSE_BYTES)
  if (!("value" in read)) throw timeoutError(provider)
  try {
    const result: unknown = JSON.parse(new TextDecoder().decode(read.value))
    if (isObject(result)) return screening?.readsOutput ? withNames(result, screening) : result
  } catch {
    // Reported below.
  }
  throw new GatewayError("provider_failed", `${provider.name} returned a body that is not JSON.`)
}

/** The name of a file is text of its author. One that a filter blocks is empty. */
function withNames(result: Json, { providerMessage }: Screening): Json {
  const named = (file: Json) =>
    typeof file["filename"] === "string" ? { ...file, filename: providerMessage(file["filename"]) ?? "" } : file
  return { ...named(result), ...(isArray(result["data"]) && { data: objectsOf(result["data"]).map(named) }) }
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

/** The form of a client after the content filters, with the field that OpenAI requires unless the client sent it. */
export function withPurpose(vendor: FileProvider, form: FormData): FormData {
  if (vendor === "anthropic" || form.has("purpose")) return form
  const sent = new FormData()
  sent.append("purpose", "user_data")
  for (const [name, value] of form) sent.append(name, value)
  return sent
}

/** The client's form, with the field that OpenAI requires unless the client sent it. */
export function toProviderForm(vendor: FileProvider, body: ReadableStream<Uint8Array>, boundary: string) {
  if (vendor === "anthropic") return body
  const { readable, writable } = new IdentityTransformStream()
  // The vendor rejects a form that ends early.
  pump(withField(body, boundary, { name: "purpose", value: "user_data" }), writable).catch(() => undefined)
  return readable
}

async function pump(chunks: AsyncIterable<Uint8Array>, writable: WritableStream<Uint8Array>): Promise<void> {
  const writer = writable.getWriter()
  try {
    for await (const chunk of chunks) await writer.write(chunk)
    await writer.close()
  } catch (cause) {
    await writer.abort(cause)
  }
}
