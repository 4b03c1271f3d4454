import type { ResourceScope } from "../../access/principal.ts"
import { GatewayError } from "../../errors/errors.ts"
import { credentialHeader } from "../../providers/upstream-request.ts"
import type { Provider } from "../../providers/provider.ts"
import { type MessageFilter, redact, BLOCKED_BY_GUARDRAIL } from "../../providers/responses/rejection.ts"
import type { MasterKeys } from "../../secrets/master-key.ts"
import { shortSignature } from "../../secrets/signature.ts"
import { decodeBase64, isSame, toBase64Url, toHex } from "../../support/text/encoding.ts"
import { isObject, parseStored } from "../../support/text/json.ts"

/**
 * A video job at a provider, polled later. Nothing is stored: the id contains the provider and the workspace and is
 * signed, so that clients can neither read jobs of other workspaces nor forge ids.
 */
export type Order = {
  provider: string
  upstreamId: string
  workspaceId: string
  /** The BYOK credential that created the job. Other keys cannot read it. */
  credentialId: string | null
  /** For keys that see only their jobs: the intern, or the start of the hash of the key. Null for other keys. */
  maker: string | null
}

const MAKER_LENGTH = 16

const encoder = new TextEncoder()
const PREFIX = "vid_"
const SIGNATURE_LENGTH = 32

export async function toJobId(
  { provider, upstreamId, workspaceId, credentialId, maker }: Order,
  masterKey: string,
): Promise<string> {
  const parts = [provider, upstreamId, credentialId, maker]
  while (parts.at(-1) === null) parts.pop()
  const result = toBase64Url(encoder.encode(JSON.stringify(parts)))
  return `${PREFIX}${result}_${await sign(result, workspaceId, masterKey)}`
}

/** Decodes a job id. Throws 404 for an id that was not issued for this workspace. */
export async function readJobId(id: string, workspaceId: string, masters: MasterKeys): Promise<Order> {
  const [, result = "", signature = ""] = /^vid_([\w-]+)_([0-9a-f]{32})$/.exec(id) ?? []
  if (result !== "" && (await isSigned(result, workspaceId, masters, signature))) {
    const parts = parseStored<[string, string, (string | null)?, string?]>(
      new TextDecoder().decode(decodeBase64(result)),
    )
    const [provider, upstreamId, credentialId = null, maker = null] = parts
    return { provider, upstreamId, workspaceId, credentialId, maker }
  }
  throw noSuchVideo()
}

function noSuchVideo(): GatewayError {
  return new GatewayError("not_found", "There is no video with this id.")
}

type Scope = Pick<ResourceScope, "internId" | "onlyKey">

export function makerOf({ internId, onlyKey }: Scope): string | null {
  return internId ?? onlyKey?.slice(0, MAKER_LENGTH) ?? null
}

/** Throws 404 for a job of another key if the key sees only what it made. */
export function requireVisibleJob({ maker }: Order, scope: Scope): void {
  const reader = makerOf(scope)
  if (reader !== null && reader !== maker) throw noSuchVideo()
}

/** Job ids stay valid after a rotation of the master key while the previous key is configured. */
async function isSigned(result: string, workspaceId: string, { current, previous }: MasterKeys, signature: string) {
  for (const master of previous === undefined ? [current] : [current, previous]) {
    for (const expected of [sign(result, workspaceId, master), signBefore03(result, workspaceId, master)]) {
      if (isSame(await expected, signature)) return true
    }
  }
  return false
}

function sign(result: string, workspaceId: string, masterKey: string): Promise<string> {
  return shortSignature(masterKey, "video-job", JSON.stringify([workspaceId, result]))
}

/** The signature of ids from releases before 0.3, which only verifies. Providers keep videos for days. */
async function signBefore03(result: string, workspaceId: string, masterKey: string): Promise<string> {
  const algorithm = { name: "HMAC", hash: "SHA-256" }
  const secret = encoder.encode(`pseudonym:${masterKey}`)
  const key = await crypto.subtle.importKey("raw", secret, algorithm, false, ["sign"])
  const signature = await crypto.subtle.sign("HMAC", key, encoder.encode(`video:${workspaceId}:${result}`))
  return toHex(signature).slice(0, SIGNATURE_LENGTH)
}

/** Job states by the providers' names. */
const STATES: Record<string, string> = {
  queued: "pending",
  pending: "pending",
  in_progress: "in_progress",
  processing: "in_progress",
  running: "in_progress",
  completed: "completed",
  succeeded: "completed",
  success: "completed",
  failed: "failed",
  error: "failed",
  cancelled: "cancelled",
  canceled: "cancelled",
  expired: "expired",
}

/** The provider of a job, and the filter for its messages. */
type Source = { provider: Provider | undefined; filter: MessageFilter | undefined }

/** Converts a provider's job to the response of the gateway. `base`: the URL of the videos of this gateway. */
export function toJob(
  order: Record<string, unknown>,
  id: string,
  base: string,
  source: Source,
): Record<string, unknown> {
  const status = STATES[typeof order["status"] === "string" ? order["status"] : ""] ?? "pending"
  const { error, usage } = order
  const message = isObject(error) ? error["message"] : error
  return {
    id,
    polling_url: `${base}/${id}`,
    status,
    ...(typeof message === "string" && { error: failureOf(message, source) }),
    ...(status === "completed" && { unsigned_urls: [`${base}/${id}/content`] }),
    ...(isObject(usage) && Object.keys(usage).length > 0 && { usage }),
  }
}

function failureOf(message: string, { provider, filter }: Source): string {
  const statusText = "The provider reported an error."
  return provider ? (redact(message, provider, filter) ?? `${statusText} ${BLOCKED_BY_GUARDRAIL}`) : statusText
}

/** The type of a video. Storage of providers often serves videos as bytes of no type, which clients do not accept. */
export function videoType({ headers }: Response): string {
  const type = headers.get("content-type") ?? ""
  return /^video\//i.test(type) ? type : "video/mp4"
}

/** A request for a job, to the provider that runs it. */
export function orderInit(provider: Provider, signal: AbortSignal): RequestInit {
  const headers = { "user-agent": "edge-model-gateway", ...credentialHeader(provider) }
  return { headers, redirect: "manual", signal }
}
