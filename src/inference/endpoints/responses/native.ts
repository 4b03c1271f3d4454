import { type GatewayError, errors } from "../../../errors/errors.ts"
import { isObject, type Json, withoutNulls } from "../../../support/text/json.ts"
import { withoutGatewayFields } from "../../../formats/chat/normalize/normalize.ts"
import { type Charge, costFields, countsIn, responsesCostDetails, withoutCosts } from "../../../formats/usage.ts"
import { withoutToolCredentials } from "../../../formats/tools/tool-credentials.ts"
import { toEventFrame } from "../../../formats/sse/frames.ts"
import { ResponseEvents } from "../../../formats/responses/native/events.ts"
import { endStatus } from "../../../formats/responses/native/to-events.ts"
import { normalizeEvent, normalizeResponse } from "../../../formats/responses/native/normalize.ts"
import { NOT_STARTED, type ResponseFacts, toResponse } from "../../../formats/responses/response.ts"
import type { ResponsesEvent, ResponsesRequest } from "../../../formats/responses/schemas.ts"

/** Added to a response once it has ended. */
export type Closing = { charge: Charge; metadata: Json }

/**
 * Rewrites a native response: its id becomes the generation id, its events continue the sequence numbers of the events
 * already sent, and it gets the form that strict clients require. The last event is buffered until the settlement.
 */
export class NativeResponse {
  readonly #request: ResponsesRequest
  readonly #facts: ResponseFacts
  #sequence: number
  #isStarted: boolean
  #latest: Json
  #terminal: Json | undefined
  readonly #calls = new Map<unknown, string>()
  readonly #events = new ResponseEvents()

  /** `sent`: number of events already sent, starting with the one that opened the response. */
  constructor(request: ResponsesRequest, facts: ResponseFacts, sent: number) {
    this.#request = request
    this.#facts = facts
    this.#sequence = sent
    this.#isStarted = sent > 0
    this.#latest = {}
  }

  /** `frame`: the original bytes of the event, sent if nothing changed. */
  take(event: Json, frame: Uint8Array | undefined): Uint8Array[] {
    const { type, response } = event
    // Clients know an event by its type: another one, such as `{}`, keeps the connection open.
    if (typeof type !== "string") return []
    if (type === "response.created" && this.#isStarted) return []
    if (isObject(response)) this.#latest = response
    const created = type === "response.created" ? [] : this.#created()
    this.#isStarted = true
    if (TERMINAL.has(type)) {
      // A final event without `response` is ignored: the stream then counts as cut.
      if (isObject(response)) this.#terminal = event
      return created
    }
    if (isObject(response)) return [...created, this.#snapshot(type)]
    return [...created, ...this.#events.take(event).map((one) => this.#write(one, one === event ? frame : undefined))]
  }

  /** The first event, if it was not sent yet. */
  #created(): Uint8Array[] {
    if (this.#isStarted) return []
    this.#isStarted = true
    return [this.#snapshot("response.created")]
  }

  #write(event: Json, frame: Uint8Array | undefined): Uint8Array {
    const number = this.#sequence++
    const normal = normalizeEvent(event, this.#calls)
    const isNormal = normal === event && event["sequence_number"] === number
    return isNormal && frame ? frame : this.#frame({ ...normal, sequence_number: number })
  }

  #snapshot(type: string): Uint8Array {
    return this.#event(type, this.#rewrite({ ...this.#latest, status: this.#latest["status"] ?? "in_progress" }))
  }

  heartbeat(): Uint8Array[] {
    return [this.#event("response.in_progress", this.#rewrite(this.#latest))]
  }

  end(closing: Closing): Uint8Array[] {
    const event = this.#terminal
    const response = isObject(event?.["response"]) ? event["response"] : this.#latest
    const { events, output } = this.#events.end(response["output"])
    const status = endStatus(event?.["type"], response)
    return [
      ...this.#created(),
      ...events.map((one) => this.#write(one, undefined)),
      this.#event(`response.${status}`, this.document({ ...response, status, output }, closing)),
    ]
  }

  /** `charged`: undefined if nothing was charged. */
  failure(error: GatewayError, metadata: Json, charged?: Charge): Uint8Array[] {
    const failed = {
      ...this.#rewrite(this.#latest),
      usage: charged ? usageAsCharged(charged, this.#latest["usage"]) : null,
      status: "failed",
      error: { code: error.status === 429 ? "rate_limit_exceeded" : "server_error", message: error.message },
      error_type: errors[error.code].type,
      ...metadata,
    }
    return [...this.#created(), this.#event("response.failed", failed)]
  }

  document(response: Json, { charge, metadata }: Closing): Json {
    const result = this.#rewrite({ ...response, status: endStatus(undefined, response) })
    return { ...result, usage: usageAsCharged(charge, result["usage"]), ...metadata }
  }

  #rewrite(response: Json): Json {
    return {
      ...toResponse(this.#request, this.#facts, NOT_STARTED),
      ...withoutToolCredentials(normalizeResponse(withoutGatewayFields(response))),
      id: this.#facts.id,
      model: this.#facts.model,
      store: false,
    }
  }

  #event(type: string, response: Json): Uint8Array {
    return this.#frame({ type, sequence_number: this.#sequence++, response })
  }

  #frame(event: Json): Uint8Array {
    return toEventFrame(event as ResponsesEvent)
  }
}

const TERMINAL = new Set<unknown>(["response.completed", "response.incomplete", "response.failed", "response.done"])

/** The charged tokens, with the other fields that the provider reported. */
function usageAsCharged(charge: Charge, reported: unknown): Json {
  const { tokens } = charge
  const { cost_details: details, ...cost } = costFields(charge)
  const { input_tokens_details: input, output_tokens_details: output, ...rest } = withoutCosts(reported)
  return {
    ...withoutNulls(rest),
    input_tokens: tokens.prompt,
    input_tokens_details: {
      cache_write_tokens: tokens.cacheWrite,
      ...countsIn(input),
      cached_tokens: tokens.cached,
    },
    output_tokens: tokens.completion,
    output_tokens_details: { ...countsIn(output), reasoning_tokens: tokens.reasoning },
    total_tokens: tokens.prompt + tokens.completion,
    ...cost,
    ...(details && { cost_details: responsesCostDetails(details) }),
  }
}
