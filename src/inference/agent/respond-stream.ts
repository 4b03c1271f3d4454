import type { GatewayError } from "../../errors/errors.ts"
import { listOf, type Json } from "../../support/text/json.ts"
import { heal } from "../../plugins/response-healing.ts"
import type { ResponseEncoder } from "../../formats/encoder.ts"
import { type FrameWriter, keepAlive } from "../../formats/sse/frame-writer.ts"
import type { Agent, ToolRunDetails } from "./agent.ts"
import { readStreamedRound, type Round } from "./round.ts"
import { servingInfoOf, chargeOf, finishOf, isJson } from "./respond.ts"

/** Streams the rounds of an agent as one response in the API format of the client. */
export class StreamResponder {
  readonly #agent: Agent
  readonly #encoder: ResponseEncoder
  readonly #out: FrameWriter
  readonly #signal: AbortSignal
  /** Fields that all chunks of a response share, taken from the first round. */
  #head: Json = {}

  constructor(agent: Agent, encoder: ResponseEncoder, out: FrameWriter, signal: AbortSignal) {
    this.#agent = agent
    this.#encoder = encoder
    this.#out = out
    this.#signal = signal
  }

  async respond(first: Response): Promise<void> {
    const stop = keepAlive(this.#out, this.#agent.deps.timers.keepaliveMs, () => this.#encoder.heartbeat())
    try {
      await this.#respond(first)
    } finally {
      stop()
    }
  }

  async #respond(first: Response): Promise<void> {
    const agent = this.#agent
    this.#out.write(this.#encoder.open(servingInfoOf({}, agent.job.prepared.chat.model ?? "")))
    let response = first
    for (;;) {
      const round = await this.#read(response)
      if (this.#signal.aborted) return
      const calls = agent.pending(round)
      const pending = agent.callFilter.rest(listOf(round.message["tool_calls"]))
      if (pending.length > 0) this.#emit({ tool_calls: pending })
      const { details, continues }: ToolRunDetails =
        calls.length > 0 ? await agent.runTools(round, calls, this.#signal) : { details: [], continues: false }
      this.#emitBuffered(round, continues)
      for (const detail of details) this.#emit({ reasoning_details: [detail] })
      if (!continues) return this.#end(round)
      response = await agent.nextResponse(this.#signal)
    }
  }

  /** Ends the stream with an error and the usage of all rounds and tools, which were charged. */
  fail(error: GatewayError, metadata: Json): void {
    const { usage } = this.#agent.total
    if (usage) this.#write({ choices: [], usage })
    this.#out.write(this.#encoder.failure(error, metadata, usage && chargeOf(this.#agent)))
  }

  get #holdsContent(): boolean {
    const { heals, chat } = this.#agent.job.prepared
    return heals && isJson(chat)
  }

  async #read(response: Response): Promise<Round> {
    const agent = this.#agent
    const round = await readStreamedRound(response, {
      onChunk: (chunk) => {
        if (this.#head["id"] === undefined) this.#head = chunk
        this.#write({ ...chunk })
      },
      onSilence: () => this.#out.write(this.#encoder.heartbeat()),
      onMetadata: (metadata) => (agent.metadata = metadata),
      onFailure: (usage) => agent.addUsage(usage),
      holdsContent: this.#holdsContent,
      detailOffset: agent.detailOffset,
      callFilter: agent.callFilter,
      signal: this.#signal,
    })
    if (this.#head["id"] === undefined) this.#head = round.head
    return round
  }

  /** Emits buffered content. Repairs the JSON of the last round first. */
  #emitBuffered({ message: { content } }: Round, continues: boolean): void {
    if (!this.#holdsContent || typeof content !== "string") return
    this.#emit({ content: continues ? content : (heal(content) ?? content) })
  }

  #end({ finishReason, nativeFinishReason }: Round): void {
    const agent = this.#agent
    if (agent.annotations.length > 0) this.#emit({ annotations: agent.annotations })
    const native = nativeFinishReason === undefined ? {} : { native_finish_reason: nativeFinishReason }
    this.#emit({}, native, finishOf(finishReason, agent.callFilter.count))
    const { usage } = agent.total
    if (usage) this.#write({ choices: [], usage })
    this.#out.write(this.#encoder.end(chargeOf(agent)))
  }

  #emit(delta: Json, more: Json = {}, finishReason: string | null = null): void {
    this.#write({ choices: [{ index: 0, delta, finish_reason: finishReason, ...more }] })
  }

  #write(chunk: Json): void {
    const { id, model, created, provider } = this.#head
    const shared = { id, object: "chat.completion.chunk", created, model, ...(provider !== undefined && { provider }) }
    this.#out.write(this.#encoder.chunk({ ...chunk, ...shared }, undefined))
  }
}
