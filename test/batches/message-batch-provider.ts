import { vi } from "vitest"

/**
 * A provider with message batches, after https://docs.anthropic.com/en/api/creating-message-batches: a batch is
 * created with its requests and has its results in one file once it has ended. Tests script the progress of each
 * batch.
 */

type Submitted = { custom_id: string; params: Record<string, unknown> }
type Counts = { processing: number; succeeded: number; errored: number; canceled: number; expired: number }
type MessageBatch = {
  id: string
  processing_status: "in_progress" | "canceling" | "ended"
  request_counts: Counts
  created_at: string
}
export type Outcome = { type: "succeeded"; message: object } | { type: "errored"; error: object } | { type: string }
type Fault = (request: Request) => Response | Error | undefined

const NO_COUNTS: Counts = { processing: 0, succeeded: 0, errored: 0, canceled: 0, expired: 0 }

export class MessageBatchProvider {
  readonly batches: MessageBatch[] = []
  readonly requests: string[] = []
  readonly headers = new Set<string>()
  readonly betas = new Set<string | null>()
  readonly submitted = new Map<string, Submitted[]>()
  readonly #results = new Map<string, string>()
  /** Runs after the request is handled. */
  after: Fault = () => undefined
  #ids = 0

  constructor() {
    vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
      const request = new Request(input, init)
      const { hostname, pathname } = new URL(request.url)
      if (hostname !== "claudish.test") throw new Error(`Unexpected request to ${request.url}`)
      this.requests.push(`${request.method} ${pathname.replace("/v1", "")}`)
      this.betas.add(request.headers.get("anthropic-beta"))
      this.headers.add(`${request.headers.get("x-api-key")} ${request.headers.get("anthropic-version")}`)
      const answer = await this.#answer(request.clone())
      const last = this.after(request) ?? answer
      if (last instanceof Error) throw last
      return last
    })
  }

  async #answer(request: Request): Promise<Response> {
    const [, , , , id = "", action] = new URL(request.url).pathname.split("/")
    if (id === "" && request.method === "POST") {
      const { requests } = await request.json<{ requests: Submitted[] }>()
      return Response.json(this.add(requests))
    }
    if (id === "") return Response.json({ data: this.batches.toReversed(), has_more: false })
    const at = this.batches.findIndex((one) => one.id === id)
    const batch = this.batches[at]
    if (!batch) return refusal(404, "not_found_error")
    if (request.method === "DELETE")
      return Response.json({ id, type: "message_batch_deleted", at: this.batches.splice(at, 1).length })
    if (action === "results") return new Response(this.#results.get(id))
    if (action === "cancel") batch.processing_status = "canceling"
    return Response.json(batch)
  }

  /** A batch of the gateway, or of another program with the same key. */
  add(requests: Submitted[]): MessageBatch {
    const batch: MessageBatch = {
      id: `msgbatch_${this.#ids++}`,
      processing_status: "in_progress",
      request_counts: { ...NO_COUNTS, processing: requests.length },
      created_at: new Date().toISOString(),
    }
    this.batches.push(batch)
    this.submitted.set(batch.id, requests)
    return batch
  }

  /** Ends a batch: one outcome for each of its requests, in their order. */
  end(outcomes: readonly Outcome[], at = 0): void {
    const batch = this.batches[at]
    if (!batch) throw new Error("There is no such batch.")
    const requests = this.submitted.get(batch.id) ?? []
    const lines = requests.map(({ custom_id }, index) => JSON.stringify({ custom_id, result: outcomes[index] }))
    // Not in the order of the requests.
    this.#results.set(batch.id, lines.toReversed().join("\n"))
    const count = (type: string) => outcomes.filter((outcome) => outcome.type === type).length
    batch.request_counts = {
      processing: 0,
      succeeded: count("succeeded"),
      // The counts add up to the requests.
      errored: outcomes.length - count("succeeded") - count("canceled") - count("expired"),
      canceled: count("canceled"),
      expired: count("expired"),
    }
    batch.processing_status = "ended"
  }
}

const refusal = (status: number, type: string) =>
  Response.json({ type: "error", error: { type, message: "Refused" } }, { status })

export function message(text: string, [prompt, answer] = [100, 10]): Outcome {
  return {
    type: "succeeded",
    message: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "opus",
      content: [{ type: "text", text }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: { input_tokens: prompt, output_tokens: answer },
    },
  }
}

export const errored = (type: string, text: string): Outcome => ({
  type: "errored",
  error: { type: "error", error: { type, message: text } },
})
