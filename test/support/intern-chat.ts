import { exports } from "cloudflare:workers"
import { expect } from "vitest"

export type InternUsage = {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  cost?: number
  by_model?: { model: string; calls: number; prompt_tokens: number; completion_tokens: number; cost: number }[]
}

export type InternChunk = {
  id: string
  object: string
  created: number
  model: string
  choices: {
    index: number
    delta: {
      role?: string
      content?: string
      reasoning?: string
      tool_calls?: { index: number; id: string; type: string; function: { name: string; arguments: string } }[]
    }
    finish_reason: string | null
  }[]
  session_id?: string | null
  usage?: InternUsage | null
  error?: { code: number; message: string; metadata: { reason: string; retryable: boolean } }
}

/** A response of an intern, read as it arrives. */
export class InternReader {
  readonly response: Response
  readonly chunks: InternChunk[] = []
  isDone = false
  raw = ""
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  readonly #abort: AbortController
  readonly #decoder = new TextDecoder()
  #rest = ""

  constructor(response: Response, abort: AbortController) {
    this.response = response
    this.#abort = abort
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false
    this.#reader = isStream ? response.body?.getReader() : undefined
  }

  /** Whether there was more. */
  async read(): Promise<boolean> {
    const { done, value } = (await this.#reader?.read()) ?? { done: true, value: undefined }
    if (done) return false
    const text = this.#decoder.decode(value, { stream: true })
    this.raw += text
    this.#rest += text
    const frames = this.#rest.split("\n\n")
    this.#rest = frames.pop() ?? ""
    for (const frame of frames) {
      if (!frame.startsWith("data: ")) continue
      const data = frame.slice(6)
      expect(this.isDone, "nothing after [DONE]").toBe(false)
      if (data === "[DONE]") this.isDone = true
      else this.chunks.push(JSON.parse(data) as InternChunk)
    }
    return true
  }

  /** Reads until the text contains this. */
  async until(text: string): Promise<this> {
    while (!this.text.includes(text)) expect(await this.read(), `${text} in ${this.raw}`).toBe(true)
    return this
  }

  /** Reads to the end, and checks what holds for every response. */
  async all(): Promise<this> {
    while (await this.read()) {
      // To the end.
    }
    expect(this.isDone, this.raw).toBe(true)
    const last = this.chunks.at(-1)
    const finishes = this.chunks.flatMap(({ choices }) => choices).filter((choice) => choice.finish_reason !== null)
    expect(this.chunks[0]?.choices[0]?.delta.role).toBe("assistant")
    expect(finishes).toHaveLength(1)
    expect(this.chunks.filter(({ choices }) => choices.length === 0)).toEqual([last])
    expect(new Set(this.chunks.map(({ id }) => id)).size).toBe(1)
    if (this.finish === "tool_calls") expect(last?.usage).toBeNull()
    return this
  }

  leave(): void {
    this.#abort.abort()
  }

  get text(): string {
    return this.chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")
  }

  get finish(): string | null {
    return (
      this.chunks.flatMap(({ choices }) => choices).find((choice) => choice.finish_reason !== null)?.finish_reason ??
      null
    )
  }

  get error() {
    return this.chunks.find(({ error }) => error)?.error
  }

  get session(): string {
    return this.chunks.at(-1)?.session_id ?? ""
  }

  get usage() {
    return this.chunks.at(-1)?.usage
  }

  get question() {
    const call = this.chunks.flatMap(({ choices }) => choices).find(({ delta }) => delta.tool_calls)?.delta
      .tool_calls?.[0]
    if (!call) throw new Error(`no question in ${this.raw}`)
    const request = JSON.parse(call.function.arguments) as {
      kind: string
      operation?: string | null
      input?: string
      options?: string[]
    }
    return { id: call.id, name: call.function.name, ...request }
  }
}

/** A chat with an intern with a key. */
export function internChat(key: string, internId: string) {
  const call = async (body: unknown) => {
    const abort = new AbortController()
    const url = `http://gateway.test/api/v1/interns/${internId}/chat/completions`
    const response = await (exports as unknown as { default: Fetcher }).default.fetch(url, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: abort.signal,
    })
    return new InternReader(response, abort)
  }
  return {
    call,
    send: (text: string, more: Record<string, unknown> = {}) =>
      call({ stream: true, approval_mode: "manual", messages: [{ role: "user", content: text }], ...more }),
    answer: (session: string, question: string, content: string) =>
      call({
        stream: true,
        session_id: session,
        messages: [
          {
            role: "assistant",
            tool_calls: [{ id: question, function: { name: "service.provide_input", arguments: "{}" } }],
          },
          { role: "tool", tool_call_id: question, content },
        ],
      }),
  }
}

export type InternChat = ReturnType<typeof internChat>

/** The error of a call that gets no stream. */
export async function refused(reader: InternReader | Promise<InternReader>) {
  const { response } = await reader
  type Refusal = { error: { code: number; message: string; metadata?: { reason: string; retryable: boolean } } }
  const { error } = await response.json<Refusal>()
  expect(error.code).toBe(response.status)
  return {
    status: response.status,
    retryAfter: response.headers.get("retry-after"),
    ...error.metadata,
    message: error.message,
  }
}
