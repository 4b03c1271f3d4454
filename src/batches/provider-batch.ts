import type { Json } from "../support/json.ts"

export type ProviderBatch = {
  id: string
  status: string
  outputFileId: string | null
  errorFileId: string | null
  /** Why the provider refused the batch as a whole. */
  message: string | null
}

const ENDED = new Set(["completed", "failed", "expired", "cancelled"])

export function hasEnded({ status }: ProviderBatch): boolean {
  return ENDED.has(status)
}

/** One request of a batch, as the pipeline gave it out. */
export type BatchRequest = { line: number; path: string; body: Record<string, unknown> }

/** What a batch of the provider is made of. */
export type BatchSource = {
  part: number
  path: string
  /** What `upload` returned. */
  fileId: string | null
  /** The lines, each with a line feed at its end. */
  content: () => readonly Uint8Array<ArrayBuffer>[]
  /** Numbers of its requests. */
  lines: () => ReadonlySet<number>
  /** Milliseconds; the batch of the provider is not older. */
  createdAt: number
  /** Batches of the provider that have other parts. */
  taken: () => ReadonlySet<string>
}

/** A result in the form of the OpenAI API: `response` has `status_code` and `body`. */
export type BatchResult = { line: number; response: Json | undefined; error: unknown }

/** The batch API of a provider. Methods throw ProviderBatchError. */
export interface ProviderBatches {
  /** A request as one line of JSON. */
  toLine: (request: BatchRequest) => string
  /** Returns the id of the uploaded file; null where requests go with the creation of the batch. */
  upload: (filename: string, content: readonly Uint8Array<ArrayBuffer>[]) => Promise<string | null>
  create: (source: BatchSource) => Promise<ProviderBatch>
  /** The batch that was made of this: the response to its creation may have been lost. */
  find: (source: BatchSource) => Promise<ProviderBatch | undefined>
  retrieve: (id: string) => Promise<ProviderBatch>
  cancel: (id: string) => Promise<ProviderBatch>
  /** JSON lines of `outputFileId` or `errorFileId`. */
  content: (fileId: string) => Promise<ReadableStream<Uint8Array>>
  /** Of a line of `content`; undefined if it is no result. */
  toResult: (value: unknown) => BatchResult | undefined
  remove: (fileId: string) => Promise<void>
}
