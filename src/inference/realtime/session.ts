import { GatewayError } from "../../errors/errors.ts"
import type { Ending } from "../../ledger/generation.ts"
import type { Caller } from "../../policy/call-policy.ts"
import type { Json } from "../../support/text/json.ts"
import { logError } from "../../support/log.ts"
import type { Deps, RequestMeta } from "../deps.ts"
import { CLOSE, type Closing, toClosing, errorEvent } from "./events/events.ts"
import type { OpenedSession } from "./open.ts"
import { type CurrentPolicy, endOfPolicy } from "./policy-check.ts"
import { EventRelay } from "./relay.ts"
import { Responses } from "./events/responses.ts"
import { closeSocket, sendText } from "./sockets.ts"
import { Transcriptions } from "./events/transcriptions.ts"

/** One running session: relays events between a client and a provider, and charges each response. */

export const MAX_CLIENT_FRAME = 1024 * 1024
const MAX_PROVIDER_FRAME = 16 * 1024 * 1024
/** Maximum of queued characters while a hold is placed. */
const MAX_QUEUED = 16 * 1024 * 1024
const TICK_MS = 500
/** Interval in which the key and its policy are read again. */
export const RECHECK_MS = 5_000

export type SessionDeps = {
  opened: OpenedSession
  client: WebSocket
  caller: Caller
  deps: Deps
  meta: RequestMeta
  model: string
  maxSessionMs: number
  /** Undefined if the key is no longer valid. */
  currentPolicy: () => Promise<CurrentPolicy | undefined>
}

export class RealtimeSession {
  readonly #deps: SessionDeps
  readonly #responses: Responses
  readonly #transcriptions: Transcriptions
  readonly #relay: EventRelay
  readonly #startedAt = Date.now()
  #caller: Caller
  /** Handles events of both sides one at a time, so that holds, starts and settlements have one order. */
  #queue: Promise<void> = Promise.resolve()
  #queued = 0
  #lastEventAt = Date.now()
  #hasStarted = false
  #isChecking = false
  #checkedAt = Date.now()
  #timer: ReturnType<typeof setInterval> | undefined
  #ended: Promise<void> | undefined

  constructor(deps: SessionDeps) {
    const { opened, caller } = deps
    this.#deps = deps
    this.#caller = caller
    const { target, conversation, attempts, hold, held } = opened
    const context = { ...hold, deps: deps.deps, target, conversation, attempts, caller: () => this.#caller }
    this.#responses = new Responses(held, context)
    this.#transcriptions = new Transcriptions({ ...context, hold })
    const relayed = { ...deps, caller: () => this.#caller }
    this.#relay = new EventRelay(relayed, this.#responses, this.#transcriptions)
  }

  /** Accepts both sockets and relays until one side ends the session. `session`: sent before any client event. */
  start(session?: Json): void {
    const { client, opened } = this.#deps
    const provider = opened.socket
    client.addEventListener("message", ({ data }) =>
      this.#receive(data, MAX_CLIENT_FRAME, (text) => this.#relay.onClient(text)),
    )
    provider.addEventListener("message", ({ data }) => {
      this.#lastEventAt = Date.now()
      this.#receive(data, MAX_PROVIDER_FRAME, (text) => this.#onProvider(text))
    })
    const clientDisconnected = () => this.#enqueue(0, async () => this.#end({ code: CLOSE.normal }, "cancelled"))
    client.addEventListener("close", clientDisconnected)
    client.addEventListener("error", clientDisconnected)
    provider.addEventListener("close", ({ code }) => this.#enqueue(0, async () => this.#onProviderClosed(code)))
    provider.addEventListener("error", () => this.#enqueue(0, async () => this.#onProviderClosed(1006)))
    provider.accept()
    if (session) this.#enqueue(0, async () => this.#relay.onClient(JSON.stringify({ type: "session.update", session })))
    client.accept()
    this.#timer = setInterval(() => this.#tick(Date.now()), TICK_MS)
  }

  #receive(data: unknown, maxBytes: number, handle: (text: string) => Promise<void>): void {
    const isClients = maxBytes === MAX_CLIENT_FRAME
    if (typeof data !== "string") {
      const error = {
        type: "invalid_request_error",
        code: "unsupported_data",
        message: "Send events as text, not as bytes.",
      }
      const closing = isClients
        ? { code: CLOSE.unsupportedData, error }
        : this.#failed("sent an event that is not text")
      return void this.#end(closing, isClients ? "cancelled" : "cut")
    }
    if (data.length > maxBytes || this.#queued + data.length > MAX_QUEUED) {
      const error = {
        type: "invalid_request_error",
        code: "event_too_large",
        message: `An event must be at most ${maxBytes} bytes.`,
      }
      const closing = isClients ? { code: CLOSE.tooLarge, error } : this.#failed("sent an event that is too large")
      return void this.#end(closing, isClients ? "cancelled" : "cut")
    }
    this.#enqueue(data.length, async () => handle(data))
  }

  #enqueue(length: number, work: () => Promise<void>): void {
    this.#queued += length
    this.#queue = this.#queue
      .then(async () => {
        this.#queued -= length
        if (!this.#ended) await work()
      })
      .catch(async (cause: unknown) => {
        if (!(cause instanceof GatewayError)) logError("realtime session failed", this.#logFields(), cause)
        await this.#end(toClosing(cause), "error")
      })
  }

  async #onProvider(text: string): Promise<void> {
    this.#hasStarted = true
    if (!(await this.#relay.onProvider(text)))
      await this.#end(this.#failed("sent an event that is not JSON or is nested too deeply"), "cut")
  }

  async #onProviderClosed(code: number): Promise<void> {
    if (code === CLOSE.normal && !this.#responses.isRunning) return this.#end({ code: CLOSE.normal }, "complete")
    return this.#end(this.#failed("closed the session"), "cut")
  }

  #tick(now: number): void {
    const { maxSessionMs, deps } = this.#deps
    if (now - this.#startedAt >= maxSessionMs) {
      const message = `The session has reached its maximum of ${Math.round(maxSessionMs / 1_000)} seconds. Open a new one.`
      const error = { type: "invalid_request_error", code: "session_expired", message }
      return void this.#end({ code: CLOSE.sessionTime, error }, "timeout")
    }
    const silentMs = now - this.#lastEventAt
    if (!this.#hasStarted && silentMs >= deps.timers.firstFrameMs) {
      return void this.#end(this.#failed("sent nothing"), "stalled")
    }
    if (this.#responses.isRunning && silentMs >= deps.timers.idleMs) {
      return void this.#end(this.#failed("stopped sending data (idle timeout)"), "stalled")
    }
    if (now - this.#checkedAt >= RECHECK_MS && !this.#isChecking) void this.#recheck(now)
  }

  /** Ends the session of a key that is no longer valid, or whose policy no longer allows it. */
  async #recheck(now: number): Promise<void> {
    const { currentPolicy, meta, model, opened } = this.#deps
    this.#isChecking = true
    try {
      const policy = await currentPolicy()
      if (policy) this.#caller = policy.caller
      const closing = endOfPolicy(policy, { model, meta, target: opened.target })
      if (closing) await this.#end(closing, "cancelled")
    } catch (cause) {
      logError("the key of a realtime session could not be checked; the check repeats", this.#logFields(), cause)
    } finally {
      this.#isChecking = false
      this.#checkedAt = now
    }
  }

  #failed(failure: string): Closing {
    const message = `${this.#deps.opened.target.provider.name} ${failure}.`
    return { code: CLOSE.providerFailed, error: { type: "server_error", code: "provider_failed", message } }
  }

  async #end(closing: Closing, ending: Ending): Promise<void> {
    this.#ended ??= this.#close(closing, ending)
    return this.#ended
  }

  async #close({ code, error }: Closing, ending: Ending): Promise<void> {
    clearInterval(this.#timer)
    const { client, opened, deps } = this.#deps
    if (error) sendText(client, JSON.stringify(errorEvent(error)))
    closeSocket(client, code, error?.code ?? "")
    closeSocket(opened.socket, CLOSE.normal, "")
    const isFault = error !== undefined && ending !== "cancelled" && ending !== "timeout"
    const failure = isFault ? new GatewayError("provider_failed", error.message) : undefined
    const work = Promise.all([this.#responses.end(ending, failure), this.#transcriptions.end()])
    deps.waitUntil(work)
    await work
  }

  #logFields() {
    const { opened, meta } = this.#deps
    return { requestId: meta.requestId, session: opened.id }
  }
}
