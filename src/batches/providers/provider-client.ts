import { asByokRejection } from "../../inference/upstream/attempts.ts"
import { readRejection } from "../../inference/upstream/upstream-response.ts"
import { keyFilterOf } from "../../providers/key-filter.ts"
import { type Provider, providerUrl } from "../../providers/provider.ts"
import { fetchReadable } from "../../providers/responses/readable-body.ts"
import { redact } from "../../providers/responses/rejection.ts"
import { credentialHeader } from "../../providers/upstream-request.ts"
import { readAtMost } from "../../support/bytes.ts"
import { isObject, type Json, parseJson } from "../../support/text/json.ts"

type Fault = {
  /** The same request would fail again. */
  isFinal?: boolean
  /** The key or its account is at fault. */
  blamesKey?: boolean
  retryAfterMs?: number
}

/** A request to the provider failed. */
export class ProviderBatchError extends Error {
  readonly isFinal: boolean
  readonly blamesKey: boolean
  readonly retryAfterMs: number

  constructor(message: string, { isFinal = false, blamesKey = false, retryAfterMs = 0 }: Fault = {}) {
    super(message)
    this.isFinal = isFinal
    this.blamesKey = blamesKey
    this.retryAfterMs = retryAfterMs
  }
}

/** A provider with the key for its batches. `isByok`: the key is the workspace's. */
export type BatchAccount = { provider: Provider; isByok: boolean }

const TIMEOUT_MS = 60_000
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024

/** Statuses below 500 of temporary failures. */
const PASSING = new Set([408, 409, 425, 429])

type More = { body?: BodyInit; headers?: Readonly<Record<string, string>> }

/** Requests to the batch API of a provider. */
export class ProviderClient {
  readonly #provider: Provider
  readonly #isByok: boolean
  readonly #headers: Readonly<Record<string, string>>

  constructor({ provider, isByok }: BatchAccount, headers: Readonly<Record<string, string>> = {}) {
    this.#provider = provider
    this.#isByok = isByok
    this.#headers = headers
  }

  async json(method: string, path: string, more: More = {}): Promise<Json> {
    const bytes = await this.#request(method, path, more, async ({ body }) => {
      return body ? readAtMost(body, MAX_RESPONSE_BYTES) : undefined
    })
    const body = bytes && parseJson(new TextDecoder().decode(bytes))
    if (!isObject(body)) throw this.broken()
    return body
  }

  async stream(path: string): Promise<ReadableStream<Uint8Array>> {
    const body = await this.#request("GET", path, {}, async (response) => response.body ?? new Blob([]).stream())
    return keyFilterOf(this.#provider)?.stream(body) ?? body
  }

  /** A text of the provider for clients, without its key. */
  redact(text: string): string {
    return redact(text, this.#provider)
  }

  broken(): ProviderBatchError {
    return new ProviderBatchError(`${this.#provider.name} sent a response that is not a batch.`)
  }

  async #request<T>(method: string, path: string, more: More, read: (response: Response) => Promise<T>): Promise<T> {
    const { name } = this.#provider
    const headers = {
      "user-agent": "edge-model-gateway",
      ...this.#headers,
      ...more.headers,
      ...credentialHeader(this.#provider),
    }
    const abort = new AbortController()
    // A pending timer would keep the object in memory.
    const timer = setTimeout(() => abort.abort(), TIMEOUT_MS)
    try {
      const init = { method, redirect: "manual", signal: abort.signal, ...more, headers } as const
      const response = await fetchReadable(providerUrl(this.#provider, path), init)
      if (response.ok) return await read(response)
      throw await this.#rejectionOf(response)
    } catch (cause) {
      if (cause instanceof ProviderBatchError) throw cause
      // The message of a connection error can contain an address or a key.
      throw new ProviderBatchError(`${name} could not be reached, or did not respond in time.`)
    } finally {
      clearTimeout(timer)
    }
  }

  async #rejectionOf(response: Response): Promise<ProviderBatchError> {
    const rejection = await readRejection(this.#provider, response)
    const {
      message,
      retryAfterMs,
      blamesKey = false,
    } = this.#isByok && rejection.blamesKey ? asByokRejection(rejection) : rejection
    const isFinal = response.status < 500 && !PASSING.has(response.status)
    return new ProviderBatchError(message, { isFinal, blamesKey, retryAfterMs: retryAfterMs ?? 0 })
  }
}
