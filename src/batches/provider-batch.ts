import { readRejection } from "../inference/upstream-response.ts"
import type { Provider } from "../providers/provider.ts"
import { credentialHeader } from "../providers/upstream-request.ts"
import { readAtMost } from "../support/bytes.ts"
import { isObject, type Json, objectsOf, parseJson } from "../support/json.ts"

/** Batches of a provider, in the form of the OpenAI API: `/files` and `/batches`. */

export type ProviderBatch = {
  id: string
  status: string
  outputFileId: string | null
  errorFileId: string | null
  /** Why the provider refused the batch as a whole. */
  message: string | null
}

/** A request to the provider failed. `isFinal`: the same request would fail again. */
export class ProviderBatchError extends Error {
  readonly isFinal: boolean
  readonly retryAfterMs: number

  constructor(message: string, isFinal: boolean, retryAfterMs = 0) {
    super(message)
    this.isFinal = isFinal
    this.retryAfterMs = retryAfterMs
  }
}

const TIMEOUT_MS = 60_000
const MAX_ANSWER_BYTES = 4 * 1024 * 1024
const PAGE = 100
const MAX_PAGES = 20

/** Statuses below 500 of faults that pass. */
const PASSING = new Set([408, 409, 425, 429])

const ENDED = new Set(["completed", "failed", "expired", "cancelled"])

export function hasEnded({ status }: ProviderBatch): boolean {
  return ENDED.has(status)
}

/** Metadata of a batch, by which it is found again. */
export type Mark = { gateway_batch: string; gateway_part: string }

type More = { body?: BodyInit; headers?: Readonly<Record<string, string>> }

export class ProviderBatches {
  readonly #provider: Provider

  constructor(provider: Provider) {
    this.#provider = provider
  }

  /** The id of the uploaded file. */
  async upload(filename: string, content: readonly Uint8Array<ArrayBuffer>[]): Promise<string> {
    const form = new FormData()
    form.append("purpose", "batch")
    form.append("file", new File([...content], filename, { type: "application/jsonl" }))
    const { id } = await this.#json("POST", "/files", { body: form })
    if (typeof id !== "string") throw this.#broken()
    return id
  }

  async create(inputFileId: string, path: string, mark: Mark): Promise<ProviderBatch> {
    const fields = { input_file_id: inputFileId, endpoint: urlOf(path), completion_window: "24h", metadata: mark }
    const headers = { "content-type": "application/json" }
    return this.#read(await this.#json("POST", "/batches", { body: JSON.stringify(fields), headers }))
  }

  /** The batch with this mark: the response to its creation may have been lost. */
  async find(mark: Mark): Promise<ProviderBatch | undefined> {
    let after = ""
    for (let page = 0; page < MAX_PAGES; page++) {
      const { data, has_more: hasMore } = await this.#json("GET", `/batches?limit=${PAGE}${after}`)
      const batches = objectsOf(data)
      const found = batches.find(({ metadata }) => isMarked(metadata, mark))
      if (found) return this.#read(found)
      const last = batches.at(-1)?.["id"]
      if (hasMore !== true || typeof last !== "string") return undefined
      after = `&after=${encodeURIComponent(last)}`
    }
    return undefined
  }

  async retrieve(id: string): Promise<ProviderBatch> {
    return this.#read(await this.#json("GET", `/batches/${encodeURIComponent(id)}`))
  }

  async cancel(id: string): Promise<ProviderBatch> {
    return this.#read(await this.#json("POST", `/batches/${encodeURIComponent(id)}/cancel`))
  }

  async content(fileId: string): Promise<ReadableStream<Uint8Array>> {
    const path = `/files/${encodeURIComponent(fileId)}/content`
    return this.#ask("GET", path, {}, async ({ body }) => body ?? new Blob([]).stream())
  }

  async remove(fileId: string): Promise<void> {
    await this.#json("DELETE", `/files/${encodeURIComponent(fileId)}`)
  }

  async #json(method: string, path: string, more: More = {}): Promise<Json> {
    const bytes = await this.#ask(method, path, more, async ({ body }) => {
      return body ? readAtMost(body, MAX_ANSWER_BYTES) : undefined
    })
    const answer = bytes && parseJson(new TextDecoder().decode(bytes))
    if (!isObject(answer)) throw this.#broken()
    return answer
  }

  async #ask<T>(method: string, path: string, more: More, read: (response: Response) => Promise<T>): Promise<T> {
    const { baseUrl, name } = this.#provider
    const headers = { "user-agent": "edge-model-gateway", ...more.headers, ...credentialHeader(this.#provider) }
    const abort = new AbortController()
    // A timer that is left keeps the object in memory.
    const timer = setTimeout(() => abort.abort(), TIMEOUT_MS)
    try {
      const init = { method, redirect: "manual", signal: abort.signal, ...more, headers } as const
      const response = await fetch(`${baseUrl}${path}`, init)
      if (response.ok) return await read(response)
      throw await this.#refusalOf(response)
    } catch (cause) {
      if (cause instanceof ProviderBatchError) throw cause
      // The message of a connection error can contain an address or a key.
      throw new ProviderBatchError(`${name} could not be reached, or did not respond in time.`, false)
    } finally {
      clearTimeout(timer)
    }
  }

  async #refusalOf(response: Response): Promise<ProviderBatchError> {
    const { message, retryAfterMs } = await readRejection(this.#provider, response, Date.now())
    const isFinal = response.status < 500 && !PASSING.has(response.status)
    return new ProviderBatchError(message, isFinal, retryAfterMs ?? 0)
  }

  #read({ id, status, output_file_id: output, error_file_id: error, errors }: Json): ProviderBatch {
    if (typeof id !== "string" || typeof status !== "string") throw this.#broken()
    const [first] = objectsOf(isObject(errors) ? errors["data"] : undefined)
    const message = first?.["message"]
    return {
      id,
      status,
      outputFileId: typeof output === "string" ? output : null,
      errorFileId: typeof error === "string" ? error : null,
      message: typeof message === "string" ? message : null,
    }
  }

  #broken(): ProviderBatchError {
    return new ProviderBatchError(`${this.#provider.name} sent a response that is no batch.`, false)
  }
}

export function urlOf(path: string): string {
  return `/v1${path}`
}

function isMarked(metadata: unknown, { gateway_batch: batch, gateway_part: part }: Mark): boolean {
  return isObject(metadata) && metadata["gateway_batch"] === batch && metadata["gateway_part"] === part
}
