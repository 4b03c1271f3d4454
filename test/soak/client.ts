import type { Gateway } from "./gateway.ts"

/** A request that failed because the gateway was killed: nothing to report. */
export class Interrupted extends Error {}

export type Fault = { at: number; scenario: string; what: string }

export type Reply = { status: number; text: string; headers: Headers; firstByteMs: number }

type Call = {
  key: string
  method?: string
  path: string
  body?: unknown
  form?: FormData
  /** Correct statuses; 200 to 299 without it. */
  expects?: readonly number[]
  /** Disconnects after so many bytes of the body. */
  leavesAfterBytes?: number
}

/** Every call of this API has ended by then: the longest are streams of three seconds. */
const TIMEOUT_MS = 30_000

/** Requests of one scenario, with the faults in their responses. */
export class Client {
  readonly #gateway: Gateway
  readonly #scenario: string
  readonly #onFault: (fault: Fault) => void
  readonly #onReply: (reply: Reply) => void

  constructor(
    gateway: Gateway,
    scenario: string,
    on: { fault: (fault: Fault) => void; reply: (reply: Reply) => void },
  ) {
    this.#gateway = gateway
    this.#scenario = scenario
    this.#onFault = on.fault
    this.#onReply = on.reply
  }

  /** Throws `Interrupted` if the gateway was killed meanwhile, else the fault. */
  async call({ key, method = "POST", path, body, form, expects, leavesAfterBytes }: Call): Promise<Reply> {
    const startedAt = Date.now()
    const disconnect = new AbortController()
    const signal = AbortSignal.any([disconnect.signal, AbortSignal.timeout(TIMEOUT_MS)])
    try {
      const response = await fetch(`${this.#gateway.url}/api/v1${path}`, {
        method,
        signal,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body !== undefined && { "content-type": "application/json" }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(form && { body: form }),
      })
      const firstByteMs = Date.now() - startedAt
      const text = await readBody(response, leavesAfterBytes)
      if (leavesAfterBytes !== undefined) disconnect.abort()
      const reply = { status: response.status, text, headers: response.headers, firstByteMs }
      const isRight = expects ? expects.includes(response.status) : response.ok
      if (!isRight) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 300)}`)
      this.#onReply(reply)
      return reply
    } catch (thrown) {
      throw this.#judge(thrown, startedAt, `${method} ${path}`)
    }
  }

  /** For faults in a response of status 200. */
  require(isTrue: boolean, what: string, startedAt: number): void {
    if (!isTrue) throw this.#judge(new Error(what), startedAt, this.#scenario)
  }

  #judge(thrown: unknown, startedAt: number, request: string): Error {
    if (thrown instanceof Interrupted) return thrown
    const now = Date.now()
    const error = thrown instanceof Error ? thrown : new Error(String(thrown))
    if (this.#gateway.wasOut(startedAt, now)) return new Interrupted(error.message)
    const isHung = error.name === "TimeoutError"
    const cause = error.cause instanceof Error ? ` (${error.cause.message})` : ""
    const what = isHung ? `${request}: no end after ${now - startedAt} ms` : `${error.message}${cause}`
    this.#onFault({ at: now, scenario: this.#scenario, what })
    return error
  }
}

async function readBody(response: Response, leavesAfterBytes: number | undefined): Promise<string> {
  if (leavesAfterBytes === undefined) return response.text()
  const reader = response.body?.getReader()
  let text = ""
  while (reader && text.length < leavesAfterBytes) {
    const { done, value } = (await reader.read()) as { done: boolean; value?: Uint8Array }
    if (done) break
    text += Buffer.from(value ?? []).toString()
  }
  return text
}

/** The chunks of a stream that ended properly; undefined if it did not. */
export function chunksOf(text: string): Record<string, unknown>[] | undefined {
  const frames = text.split("\n\n").filter((frame) => frame.startsWith("data: "))
  if (frames.at(-1) !== "data: [DONE]") return undefined
  return frames.slice(0, -1).map((frame) => JSON.parse(frame.slice(6)) as Record<string, unknown>)
}
