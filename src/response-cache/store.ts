import { sha256Hex } from "../support/text/encoding.ts"
import { isObject } from "../support/text/json.ts"
import { MAX_TTL_SECONDS } from "./request.ts"

const PREFIX = "response-cache/"
/** R2's limit for listing and deleting. */
const BATCH = 1_000
const MAX_PER_RUN = 20_000

/** Everything that determines a response. */
export type CacheKey = {
  organizationId: string
  workspaceId: string
  /** The key or intern that does not share its responses; null for those of the workspace. */
  scope: string | null
  /** Slug of the provider, with the id of the BYOK credential if one is used. */
  provider: string
  /** Path, headers and body of the upstream request. Headers select features of the provider. */
  path: string
  headers: Readonly<Record<string, string>> | undefined
  body: Readonly<Record<string, unknown>>
}

export type CachedResponse = { body: ReadableStream<Uint8Array>; contentType: string }

function objectKeyOf({ organizationId, workspaceId, scope, provider, path, headers, body }: CacheKey): string {
  const request = [provider, path, sortFields(body), ...(headers ? [sortFields(headers)] : [])]
  const parts = scope === null ? request : [{ scope }, ...request]
  return `${prefixOf(organizationId, workspaceId)}${sha256Hex(JSON.stringify(parts))}`
}

function prefixOf(organizationId: string, workspaceId: string): string {
  return `${PREFIX}${organizationId}/${workspaceId}/`
}

/** The same value regardless of the order of fields. */
function sortFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortFields)
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(([name, inner]): [string, unknown] => [name, sortFields(inner)])
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** Bodies of complete responses of providers in R2, by organization and workspace. */
export class ResponseStore {
  readonly #files: R2Bucket

  constructor(files: R2Bucket) {
    this.#files = files
  }

  /** Undefined if no response is stored or it has expired. */
  async find(key: CacheKey, now: number): Promise<CachedResponse | undefined> {
    const object = await this.#files.get(objectKeyOf(key))
    if (!object) return undefined
    if (Number(object.customMetadata?.["expiresAt"]) <= now) {
      await object.body.cancel()
      return undefined
    }
    return { body: object.body, contentType: object.httpMetadata?.contentType ?? "application/json" }
  }

  /** `expiresAt`: epoch milliseconds. */
  async put(key: CacheKey, bytes: Uint8Array, meta: { contentType: string; expiresAt: number }): Promise<void> {
    await this.#files.put(objectKeyOf(key), bytes, {
      httpMetadata: { contentType: meta.contentType },
      customMetadata: { expiresAt: String(meta.expiresAt) },
    })
  }
}

/** Deletes the stored responses of a workspace. `isComplete`: false if more remain than one request deletes. */
export async function purgeResponses(
  files: R2Bucket,
  organizationId: string,
  workspaceId: string,
): Promise<{ deleted: number; isComplete: boolean }> {
  const prefix = prefixOf(organizationId, workspaceId)
  let deleted = 0
  while (deleted < MAX_PER_RUN) {
    const { objects } = await files.list({ prefix, limit: BATCH })
    if (objects.length === 0) return { deleted, isComplete: true }
    await files.delete(objects.map(({ key }) => key))
    deleted += objects.length
  }
  return { deleted, isComplete: false }
}

/** Deletes responses that are older than the longest lifetime. */
export async function pruneResponses(files: R2Bucket, now: number): Promise<void> {
  let cursor: string | undefined
  for (let seen = 0; seen < MAX_PER_RUN; seen += BATCH) {
    const page: R2Objects = await files.list({ prefix: PREFIX, limit: BATCH, ...(cursor !== undefined && { cursor }) })
    const expired = page.objects.filter(({ uploaded }) => uploaded.getTime() + MAX_TTL_SECONDS * 1_000 <= now)
    if (expired.length > 0) await files.delete(expired.map(({ key }) => key))
    if (!page.truncated) return
    cursor = page.cursor
  }
}
