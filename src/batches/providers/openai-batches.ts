import { isObject, type Json, objectsOf } from "../../support/text/json.ts"
import type { BatchRequest, BatchResult, BatchSource, ProviderBatch, ProviderBatches } from "./provider-batch.ts"
import { type BatchAccount, ProviderClient } from "./provider-client.ts"

const PAGE = 100
const MAX_PAGES = 20

/** Batches in the OpenAI API format: `/files` and `/batches`. */
export class OpenAiBatches implements ProviderBatches {
  readonly #client: ProviderClient
  readonly #batchId: string

  /** `batchId`: of the gateway. */
  constructor(account: BatchAccount, batchId: string) {
    this.#client = new ProviderClient(account)
    this.#batchId = batchId
  }

  toLine({ line, path, body }: BatchRequest): string {
    return JSON.stringify({ custom_id: String(line), method: "POST", url: urlOf(path), body })
  }

  async upload(filename: string, content: readonly Uint8Array<ArrayBuffer>[]): Promise<string> {
    const form = new FormData()
    form.append("purpose", "batch")
    form.append("file", new File([...content], filename, { type: "application/jsonl" }))
    const { id } = await this.#client.json("POST", "/files", { body: form })
    if (typeof id !== "string") throw this.#client.broken()
    return id
  }

  async create({ fileId, path, part }: BatchSource): Promise<ProviderBatch> {
    const fields = {
      input_file_id: fileId,
      endpoint: urlOf(path),
      completion_window: "24h",
      metadata: { gateway_batch: this.#batchId, gateway_part: String(part) },
    }
    const headers = { "content-type": "application/json" }
    return this.#read(await this.#client.json("POST", "/batches", { body: JSON.stringify(fields), headers }))
  }

  async find({ part }: BatchSource): Promise<ProviderBatch | undefined> {
    let after = ""
    for (let page = 0; page < MAX_PAGES; page++) {
      const { data, has_more: hasMore } = await this.#client.json("GET", `/batches?limit=${PAGE}${after}`)
      const batches = objectsOf(data)
      const found = batches.find(({ metadata }) => this.#isMarked(metadata, part))
      if (found) return this.#read(found)
      const last = batches.at(-1)?.["id"]
      if (hasMore !== true || typeof last !== "string") return undefined
      after = `&after=${encodeURIComponent(last)}`
    }
    return undefined
  }

  async retrieve(id: string): Promise<ProviderBatch> {
    return this.#read(await this.#client.json("GET", `/batches/${encodeURIComponent(id)}`))
  }

  async cancel(id: string): Promise<ProviderBatch> {
    return this.#read(await this.#client.json("POST", `/batches/${encodeURIComponent(id)}/cancel`))
  }

  async content(fileId: string): Promise<ReadableStream<Uint8Array>> {
    return this.#client.stream(`/files/${encodeURIComponent(fileId)}/content`)
  }

  toResult(value: unknown): BatchResult | undefined {
    if (!isObject(value)) return undefined
    const { custom_id: id, response, error } = value
    return { line: Number(id), response: isObject(response) ? response : undefined, error: this.#redacted(error) }
  }

  async remove(fileId: string): Promise<void> {
    await this.#client.json("DELETE", `/files/${encodeURIComponent(fileId)}`)
  }

  #isMarked(metadata: unknown, part: number): boolean {
    return (
      isObject(metadata) && metadata["gateway_batch"] === this.#batchId && metadata["gateway_part"] === String(part)
    )
  }

  #read({ id, status, output_file_id: output, error_file_id: error, errors }: Json): ProviderBatch {
    if (typeof id !== "string" || typeof status !== "string") throw this.#client.broken()
    const [first] = objectsOf(isObject(errors) ? errors["data"] : undefined)
    const message = first?.["message"]
    return {
      id,
      status,
      outputFileId: typeof output === "string" ? output : null,
      errorFileId: typeof error === "string" ? error : null,
      message: typeof message === "string" ? this.#client.redact(message) : null,
    }
  }

  #redacted(error: unknown): Json {
    const texts = Object.entries(isObject(error) ? error : {}).filter(([, value]) => typeof value === "string")
    return Object.fromEntries(texts.map(([name, value]) => [name, this.#client.redact(String(value))]))
  }
}

function urlOf(path: string): string {
  return `/v1${path}`
}
