import { DAY_MS } from "../support/time/time.ts"

export const BATCH_PREFIX = "batch_"

export const BATCH_STATUSES = [
  "validating",
  "failed",
  "in_progress",
  "finalizing",
  "completed",
  "expired",
  "cancelling",
  "cancelled",
] as const
export type BatchStatus = (typeof BATCH_STATUSES)[number]

export const UNFINISHED_STATUSES = [
  "validating",
  "in_progress",
  "finalizing",
  "cancelling",
] as const satisfies BatchStatus[]

/** Final statuses. */
export type FinalStatus = "failed" | "completed" | "expired" | "cancelled"
const FINAL: ReadonlySet<BatchStatus> = new Set<FinalStatus>(["failed", "completed", "expired", "cancelled"])

export function isFinal(status: BatchStatus): status is FinalStatus {
  return FINAL.has(status)
}

export const COMPLETION_WINDOW = "24h"
export const COMPLETION_WINDOW_MS = DAY_MS
export const MAX_LINES = 50_000
export const MAX_LINE_BYTES = 4 * 1024 * 1024
/** Unfinished batches of a workspace. */
export const MAX_UNFINISHED = 50

/** The endpoints of requests in a batch, without the prefix of the API. */
export const BATCH_PATHS = ["/chat/completions", "/completions", "/responses", "/messages", "/embeddings"] as const
/** As clients of the OpenAI API send them, and with the path of this API. */
export const BATCH_ENDPOINTS = BATCH_PATHS.flatMap((path) => [`/v1${path}` as const, `/api/v1${path}` as const])

/** The path below the root of the API; unknown URLs unchanged. */
export function pathOfEndpoint(endpoint: string): string {
  return endpoint.replace(/^(?:\/api)?\/v1(?=\/)/, "")
}

/** Error codes of requests that did not run. */
export const NOT_RUN_CODES = { cancelled: "batch_cancelled", expired: "batch_expired" } as const

export type BatchError = { code: string; message: string; param: string | null; line: number | null }

/** Where the batch was created: the host determines the region of its requests; the headers are recorded with them. */
export type BatchOrigin = {
  host: string
  region: string | null
  headers: Readonly<Record<string, string>>
  /** Slug of the provider in whose batches the requests run; absent if each is an ordinary call. */
  provider?: string
  /** Expiry of the output and error files, in seconds after their creation. */
  outputExpiresAfterS?: number
  actor: { label: string; creatorUserId: string | null; requestId: string }
}

export type BatchProgress = {
  total: number
  completed: number
  failed: number
  /** Failed requests that were not run, since the batch was cancelled or its window ended. */
  cancelled: number
  expired: number
  inputTokens: number
  cachedTokens: number
  outputTokens: number
  reasoningTokens: number
}

export const NO_PROGRESS: BatchProgress = {
  total: 0,
  completed: 0,
  failed: 0,
  cancelled: 0,
  expired: 0,
  inputTokens: 0,
  cachedTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
}
