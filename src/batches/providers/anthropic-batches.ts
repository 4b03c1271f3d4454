import { ANTHROPIC_HEADERS } from "../../formats/messages/upstream/to-body.ts"
import { isCount, isObject, type Json, objectsOf, parseJson } from "../../support/text/json.ts"
import { NOT_RUN_CODES } from "../batch.ts"
import { linesOf } from "../input.ts"
import type { BatchRequest, BatchResult, BatchSource, ProviderBatch, ProviderBatches } from "./provider-batch.ts"
import { type BatchAccount, ProviderBatchError, ProviderClient } from "./provider-client.ts"

const PATH = "/messages/batches"
const PAGE = 100
const MAX_PAGES = 20
const MAX_RESULT_BYTES = 16 * 1024 * 1024
/** Between the clocks of the provider and the gateway. */
const CLOCK_SKEW_MS = 300_000
const LINE_FEED = 0x0a
const COMMA = 0x2c

/** https://docs.anthropic.com/en/api/errors */
const STATUSES: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
}

/**
 * Message batches of Anthropic. A batch is created with its requests and has no name or metadata: the `custom_id` of
 * each request contains the id of the gateway's batch, and results show it once the batch has ended.
 */
export class AnthropicBatches implements ProviderBatches {
  readonly #client: ProviderClient
  readonly #prefix: string

  /** `batchId`: of the gateway. `betas`: the header with the beta features of the requests. */
  constructor(account: BatchAccount, batchId: string, betas: Readonly<Record<string, string>>) {
    this.#client = new ProviderClient(account, { ...ANTHROPIC_HEADERS, ...betas })
    this.#prefix = `${batchId}-`
  }

  toLine({ line, body: { stream: _stream, ...params } }: BatchRequest): string {
    return JSON.stringify({ custom_id: `${this.#prefix}${line}`, params })
  }

  async upload(): Promise<null> {
    return null
  }

  async create({ content }: BatchSource): Promise<ProviderBatch> {
    const headers = { "content-type": "application/json" }
    const body = new Blob(['{"requests":[', ...linesToItems(content()), "]}"])
    return this.#read(await this.#client.json("POST", PATH, { body, headers }))
  }

  /**
   * A batch that has not ended does not list its requests: if it may be this one, the search fails until it has ended,
   * so that no request is sent twice and no batch of another program is taken.
   */
  async find(source: BatchSource): Promise<ProviderBatch | undefined> {
    const [lines, taken] = [source.lines(), source.taken()]
    let mayExist = false
    for await (const batch of this.#since(source.createdAt - CLOCK_SKEW_MS)) {
      const found = this.#read(batch)
      if (taken.has(found.id) || countOf(batch) !== lines.size) continue
      if (found.outputFileId === null) mayExist = true
      else if (await this.#isOf(found.outputFileId, lines)) return found
    }
    if (!mayExist) return undefined
    throw new ProviderBatchError("A batch at the provider may be this one. It can be checked once that has ended.")
  }

  async retrieve(id: string): Promise<ProviderBatch> {
    return this.#read(await this.#client.json("GET", `${PATH}/${encodeURIComponent(id)}`))
  }

  async cancel(id: string): Promise<ProviderBatch> {
    return this.#read(await this.#client.json("POST", `${PATH}/${encodeURIComponent(id)}/cancel`))
  }

  async content(id: string): Promise<ReadableStream<Uint8Array>> {
    return this.#client.stream(`${PATH}/${encodeURIComponent(id)}/results`)
  }

  toResult(value: unknown): BatchResult | undefined {
    if (!isObject(value) || !isObject(value["result"])) return undefined
    const { custom_id: id, result } = value
    if (typeof id !== "string" || !id.startsWith(this.#prefix)) return undefined
    return { line: Number(id.slice(this.#prefix.length)), ...outcomeOf(result) }
  }

  async remove(id: string): Promise<void> {
    await this.#client.json("DELETE", `${PATH}/${encodeURIComponent(id)}`)
  }

  /** Batches of the provider, newest first, that are not older than this. */
  async *#since(createdAt: number): AsyncGenerator<Json> {
    let after = ""
    for (let page = 0; page < MAX_PAGES; page++) {
      const { data, has_more: hasMore } = await this.#client.json("GET", `${PATH}?limit=${PAGE}${after}`)
      const batches = objectsOf(data)
      for (const batch of batches) {
        if (Date.parse(String(batch["created_at"])) < createdAt) return
        yield batch
      }
      const last = batches.at(-1)?.["id"]
      if (hasMore !== true || typeof last !== "string") return
      after = `&after_id=${encodeURIComponent(last)}`
    }
  }

  /** Whether the first result belongs to one of these requests. */
  async #isOf(id: string, lines: ReadonlySet<number>): Promise<boolean> {
    for await (const { text } of linesOf(await this.content(id), MAX_RESULT_BYTES)) {
      return lines.has(this.toResult(parseJson(text ?? ""))?.line ?? Number.NaN)
    }
    return false
  }

  #read(batch: Json): ProviderBatch {
    const { id, processing_status: status, request_counts: counts } = batch
    if (typeof id !== "string" || typeof status !== "string") throw this.#client.broken()
    const hasEnded = status === "ended"
    const { canceled, expired } = isObject(counts) ? counts : {}
    const ending =
      isCount(canceled) && canceled > 0 ? "cancelled" : isCount(expired) && expired > 0 ? "expired" : "completed"
    return {
      id,
      status: hasEnded ? ending : "in_progress",
      outputFileId: hasEnded ? id : null,
      errorFileId: null,
      message: null,
    }
  }
}

/** Requests of a batch at the provider, in every state. */
function countOf({ request_counts: counts }: Json): number {
  return Object.values(isObject(counts) ? counts : {}).reduce<number>((all, one) => all + (isCount(one) ? one : 0), 0)
}

function outcomeOf(result: Json): Omit<BatchResult, "line"> {
  const { type, message, error } = result
  if (type === "succeeded") return { response: { status_code: 200, body: message }, error: undefined }
  if (type !== "errored") {
    const code = type === "canceled" ? NOT_RUN_CODES.cancelled : NOT_RUN_CODES.expired
    return { response: undefined, error: { code, message: "The provider did not process this request." } }
  }
  const cause = isObject(error) && isObject(error["error"]) ? error["error"] : error
  const kind = isObject(cause) ? String(cause["type"]) : ""
  const body = { type: "error", error: isObject(cause) ? cause : { type: "api_error", message: "" } }
  return { response: { status_code: STATUSES[kind] ?? 502, body }, error: undefined }
}

/** Converts JSON lines to the items of an array. JSON contains no raw line feeds. */
function linesToItems(pieces: readonly Uint8Array<ArrayBuffer>[]): Uint8Array<ArrayBuffer>[] {
  const items = pieces.map((piece) => piece.map((byte) => (byte === LINE_FEED ? COMMA : byte)))
  const last = items.pop()
  return last ? [...items, last.slice(0, -1)] : []
}
