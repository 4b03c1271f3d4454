import { vi } from "vitest"

/** Ids are unique across providers: batches of earlier tests may still run. */
let ids = 0

/**
 * A provider with batches, after https://platform.openai.com/docs/guides/batch: it accepts a JSONL file with the
 * purpose `batch`, creates batches from it, and has their results in files. Tests script the progress of each batch.
 */

type Submitted = { custom_id: string; method: string; url: string; body: Record<string, unknown> }
type Result = { custom_id: string; response: object | null; error: object | null }
type ProviderBatch = {
  id: string
  status: string
  input_file_id: string
  endpoint: string
  metadata: Record<string, string>
  output_file_id: string | null
  error_file_id: string | null
  errors: { data: { message: string }[] } | null
}
type Account = string | null
type Fault = (request: Request) => Response | Error | undefined

export class BatchingProvider {
  readonly files = new Map<string, string>()
  readonly batches: ProviderBatch[] = []
  readonly requests: string[] = []
  readonly keys = new Set<string | null>()
  /** The account of each file and batch: the key that created it. Other keys do not see it. */
  readonly accounts = new Map<string, Account>()
  /** Run before and after the request is handled. */
  before: Fault = () => undefined
  after: Fault = () => undefined

  constructor(hostname = "batching.test") {
    vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
      const request = new Request(input, init)
      if (new URL(request.url).hostname !== hostname) throw new Error(`Unexpected request to ${request.url}`)
      this.requests.push(`${request.method} ${new URL(request.url).pathname.replace("/v1", "")}`)
      this.keys.add(request.headers.get("authorization"))
      const answer = this.before(request) ?? (await this.#answer(request.clone()))
      const last = answer instanceof Response && answer.ok ? (this.after(request) ?? answer) : answer
      if (last instanceof Error) throw last
      return last
    })
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    const [, , kind, id = "", action] = pathname.split("/")
    const account = request.headers.get("authorization")
    if (id !== "" && this.accounts.get(id) !== account) return refusal(404, `No such object: ${id}`)
    if (kind === "files" && request.method === "POST") {
      const form = await request.formData()
      const file = form.get("file")
      if (form.get("purpose") !== "batch" || !(file instanceof File)) return refusal(400, "purpose: must be batch")
      return Response.json({ id: this.#add(await file.text(), account), object: "file" })
    }
    if (kind === "files" && request.method === "DELETE") return Response.json({ id, deleted: this.files.delete(id) })
    if (kind === "files") {
      const content = this.files.get(id)
      return content === undefined ? refusal(404, "No such file") : new Response(content)
    }
    if (request.method === "POST" && id === "") return this.#create(await request.json(), account)
    if (id === "") {
      const data = this.batches.filter((batch) => this.accounts.get(batch.id) === account)
      return Response.json({ object: "list", data, has_more: false })
    }
    const batch = this.batches.find((one) => one.id === id)
    if (!batch) return refusal(404, "No such batch")
    if (action === "cancel") batch.status = "cancelling"
    return Response.json(batch)
  }

  #create(
    fields: { input_file_id: string; endpoint: string; completion_window: string; metadata: Record<string, string> },
    account: Account,
  ) {
    const { input_file_id, endpoint, completion_window: window, metadata } = fields
    if (!this.files.has(input_file_id) || window !== "24h") return refusal(400, "Invalid batch")
    const files = { output_file_id: null, error_file_id: null, errors: null }
    const batch = { id: `vendor_${ids++}`, status: "validating", input_file_id, endpoint, metadata, ...files }
    this.batches.push(batch)
    this.accounts.set(batch.id, account)
    return Response.json(batch)
  }

  #add(content: string, account: Account): string {
    const id = `file-${ids++}`
    this.accounts.set(id, account)
    this.files.set(id, content)
    return id
  }

  /** The requests of a batch. */
  submitted(at = 0): Submitted[] {
    const content = this.files.get(this.batches[at]?.input_file_id ?? "") ?? ""
    return content
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Submitted)
  }

  /** Ends a batch with these results. Those without an error and a status below 300 are in the output. */
  end(status: string, results: readonly Result[], { at = 0, message = "" } = {}): void {
    const batch = this.batches[at]
    if (!batch) throw new Error("There is no such batch.")
    const isGood = ({ response }: Result) => Number(Reflect.get(response ?? {}, "status_code") ?? 500) < 300
    const write = (some: readonly Result[]) =>
      some.length === 0
        ? null
        : this.#add(some.map((one) => `${JSON.stringify(one)}\n`).join(""), this.accounts.get(batch.id) ?? null)
    // Not in the order of the input.
    batch.output_file_id = write(results.filter(isGood).toReversed())
    batch.error_file_id = write(results.filter((one) => !isGood(one)))
    batch.status = status
    if (message !== "") batch.errors = { data: [{ message }] }
  }
}

const refusal = (status: number, message: string) => Response.json({ error: { message } }, { status })

export function completion(customId: string, content: string, [prompt, answer] = [100, 10]): Result {
  const body = {
    id: `up-${customId}`,
    object: "chat.completion",
    created: 1,
    model: "b0",
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    usage: { prompt_tokens: prompt, completion_tokens: answer, total_tokens: prompt + answer },
  }
  return { custom_id: customId, response: { status_code: 200, request_id: "r", body }, error: null }
}
