import type { Json } from "../../support/text/json.ts"

export type ProviderBatch = {
  id: string
  status: string
  outputFileId: string | null
  errorFileId: string | null
  /** Why the provider rejected the complete batch. */
  message: string | null
}

const ENDED = new Set(["completed", "failed", "expired", "cancelled"])

export function hasEnded({ status }: ProviderBatch): boolean {
  return ENDED.has(status)
}

/** One request of a batch, as built by the pipeline. */
export type BatchRequest = { line: number; path: string; body: Record<string, unknown> }

/** Content of a batch at the provider. */
export type BatchSource = {
  part: number
  path: string
  /** Result of `upload`. */
  fileId: string | null
  /** JSON lines, each with a line feed at its end. */
  content: () => readonly Uint8Array<ArrayBuffer>[]
  /** Numbers of its requests. */
  lines: () => ReadonlySet<number>
  /** Milliseconds; the provider's batch is not older. */
  createdAt: number
  /** Batches at the provider that have other parts. */
  taken: () => ReadonlySet<string>
}

/** A result in the OpenAI format: `response` has `status_code` and `body`. */
export type BatchResult = { line: number; response: Json | undefined; error: unknown }

/** The batch API of a provider. Methods throw ProviderBatchError. */
export interface ProviderBatches {
  /** A request as one JSON line. */
  toLine: (request: BatchRequest) => string
  /** Returns the id of the uploaded file; null if requests are sent with the creation of the batch. */
  upload: (filename: string, content: readonly Uint8Array<ArrayBuffer>[]) => Promise<string | null>
  create: (source: BatchSource) => Promise<ProviderBatch>
  /** Finds an existing batch with this content: the response to its creation may have been lost. */
  find: (source: BatchSource) => Promise<ProviderBatch | undefined>
  retrieve: (id: string) => Promise<ProviderBatch>
  cancel: (id: string) => Promise<ProviderBatch>
  /** JSON lines of `outputFileId` or `errorFileId`. */
  content: (fileId: string) => Promise<ReadableStream<Uint8Array>>
  /** Parses the result in a line of `content`; undefined for an invalid line. */
  toResult: (value: unknown) => BatchResult | undefined
  remove: (fileId: string) => Promise<void>
}
