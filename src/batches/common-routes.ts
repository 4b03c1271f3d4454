import type { Context } from "hono"
import type { App } from "../access/app.ts"
import { type ResourceScope, resourceScopeOf } from "../access/principal.ts"
import { actorOf, entryOf } from "../audit/actor.ts"
import { changesOf } from "../audit/entry.ts"
import { usableCredentials } from "../byok/usable-credentials.ts"
import type { Env } from "../config/env.ts"
import { GatewayError } from "../errors/errors.ts"
import { regionOf } from "../http/request/region.ts"
import { type Caller, callerOf } from "../policy/call-policy.ts"
import { configuredProviders, reachableProviders } from "../providers/configured.ts"
import { newId } from "../support/ids.ts"
import { logError } from "../support/log.ts"
import { workspaceNotFound, workspaceOf } from "../workspaces/requested.ts"
import { findWorkspace } from "../workspaces/store.ts"
import {
  BATCH_PREFIX,
  type BatchOrigin,
  COMPLETION_WINDOW,
  COMPLETION_WINDOW_MS,
  isFinal,
  MAX_UNFINISHED,
} from "./batch.ts"
import { wakeBatch } from "./open-batch.ts"
import { cancelBatch, findBatch, insertBatch } from "./store.ts"
import type { BatchRow } from "./table.ts"

/** Shared by the routes of both batch APIs. */

const AUDITED_FIELDS = [
  "input_file_id",
  "endpoint",
  "completion_window",
  "metadata",
  "provider",
  "output_expires_after",
]

export const newBatchId = () => `${BATCH_PREFIX}${newId()}`

type BatchInput = {
  id: string
  endpoint: string
  inputFileId: string
  /** Number of requests, if it is known before the input is read. */
  total?: number
  metadata?: Readonly<Record<string, string>> | null | undefined
  /** Expiry of the output and error files, in seconds after their creation. */
  outputExpiresAfterS?: number | undefined
  /** Slug of the provider in whose batches the requests run. */
  provider?: string | null | undefined
}

/**
 * Creates a batch of the principal's key and starts it. Throws 400 for a provider without batches, 429 for too many
 * unfinished batches, 404 for a deleted workspace.
 */
export async function createBatch(c: Context<App>, input: BatchInput): Promise<BatchRow> {
  const { organizationId, workspaceId, internId, keyHash } = c.var.principal
  const { id, endpoint, inputFileId, metadata, outputExpiresAfterS, provider, total } = input
  if (provider != null) requireBatches(c.env, callerOf(c.var.principal), provider)
  const now = Date.now()
  const row: BatchRow = {
    organizationId,
    workspaceId,
    internId,
    id,
    keyHash,
    status: "validating",
    endpoint,
    inputFileId,
    outputFileId: null,
    errorFileId: null,
    metadata: metadata ?? null,
    origin: {
      ...originOf(c),
      ...(provider != null && { provider }),
      ...(outputExpiresAfterS !== undefined && { outputExpiresAfterS }),
    },
    errors: [],
    progress: total === undefined ? {} : { total },
    reached: {},
    createdAt: now,
    updatedAt: now,
    expiresAt: now + COMPLETION_WINDOW_MS,
  }
  const window = { endpoint, completion_window: COMPLETION_WINDOW, output_expires_after: outputExpiresAfterS }
  const values = { input_file_id: inputFileId, ...window, metadata, provider }
  const changed = changesOf(values, AUDITED_FIELDS)
  const entry = entryOf(c, { action: "batch.create", resourceId: id, workspaceId, changed })
  if (!(await insertBatch(c.env.DB, row, entry))) {
    throw (await findWorkspace(c.env.DB, organizationId, workspaceId)) ? tooManyError() : workspaceNotFound()
  }
  await wake(c, id)
  return row
}

/** Wakes the object of a batch whose row was written. If it cannot be reached now, the cron trigger wakes it. */
async function wake(c: Context<App>, id: string): Promise<void> {
  await wakeBatch(c.env, id).catch((cause: unknown) => logError("batch was not woken", { batch: id }, cause))
}

/** Checks the gateway's providers, and those that a credential of the workspace gives this key access to. */
function requireBatches(env: Env, caller: Caller, slug: string): void {
  const credentialed = new Set(usableCredentials(caller).map(({ provider }) => provider))
  const available = [...reachableProviders(env).values()].filter((provider) => credentialed.has(provider.slug))
  const all = new Set([...configuredProviders(env).values(), ...available])
  const providers = [...all].filter(({ batches: found }) => found)
  if (providers.some((provider) => provider.slug === slug)) return
  const slugs = providers.map((provider) => provider.slug).join(", ")
  const text = slugs === "" ? "No configured provider has batches." : `Providers with batches: ${slugs}.`
  throw new GatewayError("invalid_request", `provider: ${slug} has no batches here. ${text}`)
}

/** Headers that are recorded with every call of the batch, or that change the meaning of its requests. */
const RECORDED_HEADERS = ["http-referer", "referer", "x-title", "user-agent", "anthropic-beta"]
const MAX_HEADER_LENGTH = 512

function originOf(c: Context<App>): BatchOrigin {
  const { headers, url } = c.req.raw
  const recorded = RECORDED_HEADERS.flatMap((name) => {
    const value = headers.get(name)
    return value === null ? [] : [[name, value.slice(0, MAX_HEADER_LENGTH)] as const]
  })
  const { label, creatorUserId, requestId } = actorOf(c)
  return {
    host: new URL(url).hostname,
    region: regionOf(c.req.raw, c.env),
    headers: Object.fromEntries(recorded),
    actor: { label, creatorUserId, requestId },
  }
}

/** When a client retries to create a batch: nobody knows when another one ends. */
const RETRY_AFTER_S = 60

function tooManyError(): GatewayError {
  const message = `This workspace has ${MAX_UNFINISHED} unfinished batches, the maximum. Wait for one, or cancel one.`
  return new GatewayError("rate_limited", message, {
    metadata: { reason: "batch_limit", retryable: true },
    headers: {
      "x-ratelimit-limit": String(MAX_UNFINISHED),
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": String(Date.now() + RETRY_AFTER_S * 1_000),
      "retry-after": String(RETRY_AFTER_S),
    },
  })
}

/** `workspaceFilter`: another workspace, which only management keys may name. */
export async function scopeOf(c: Context<App>, workspaceFilter: string | undefined): Promise<ResourceScope> {
  const { principal } = c.var
  return { ...resourceScopeOf(principal), workspaceId: await workspaceOf(c.env.DB, principal, workspaceFilter) }
}

/** Throws 404 for an unknown batch. */
export async function requestedBatch(c: Context<App>, scope: ResourceScope, id: string): Promise<BatchRow> {
  const row = await findBatch(c.env.DB, scope, id)
  if (!row) throw noSuchBatch()
  return row
}

/** Throws 404 for an unknown batch, and 409 for one that is not running. */
export async function cancelRequested(c: Context<App>, scope: ResourceScope, id: string): Promise<BatchRow> {
  const entry = entryOf(c, { action: "batch.cancel", resourceId: id, workspaceId: scope.workspaceId })
  const cancelled = await cancelBatch(c.env.DB, { scope, id, now: Date.now(), entry })
  if (cancelled) await wake(c, id)
  const row = cancelled ?? (await requestedBatch(c, scope, id))
  if (isFinal(row.status) || row.status === "finalizing") {
    throw new GatewayError("conflict", `The batch is ${row.status}: only a running batch can be cancelled.`)
  }
  return row
}

export function noSuchBatch(): GatewayError {
  return new GatewayError("not_found", "There is no batch with this id in this workspace.")
}
