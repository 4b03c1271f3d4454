import { expect } from "vitest"

type Call = { id: string; function: { name: string; arguments: string } }
type Chunk = {
  model: string
  choices: { delta: { content?: string; tool_calls?: Call[] }; finish_reason: string | null }[]
  session_id?: string | null
  usage?: { total_tokens: number } | null
  error?: { metadata: { reason: string } }
}

/** A response of an intern over a real socket, read incrementally. */
export class Reading {
  readonly response: Response
  readonly chunks: Chunk[] = []
  readonly #abort: AbortController
  readonly #reader: ReadableStreamDefaultReader<string> | undefined
  #rest = ""

  constructor(response: Response, abort: AbortController) {
    this.response = response
    this.#abort = abort
    const isStream = response.headers.get("content-type")?.includes("event-stream") ?? false
    this.#reader = isStream ? response.body?.pipeThrough(new TextDecoderStream()).getReader() : undefined
  }

  async read(): Promise<boolean> {
    const { done, value } = (await this.#reader?.read()) ?? { done: true, value: undefined }
    if (done || value === undefined) return false
    const frames = (this.#rest + value).split("\n\n")
    this.#rest = frames.pop() ?? ""
    for (const frame of frames) {
      if (frame.startsWith("data: {")) this.chunks.push(JSON.parse(frame.slice(6)) as Chunk)
    }
    return true
  }

  async until(text: string): Promise<this> {
    while (!this.text.includes(text)) expect(await this.read(), this.text).toBe(true)
    return this
  }

  async all(): Promise<this> {
    expect(this.response.status).toBe(200)
    while (await this.read()) {
      // To the end.
    }
    return this
  }

  disconnect(): void {
    this.#abort.abort()
  }

  get text(): string {
    return this.chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")
  }

  get finish(): string | null | undefined {
    return this.chunks.flatMap(({ choices }) => choices).find((choice) => choice.finish_reason !== null)?.finish_reason
  }

  get reason(): string | undefined {
    return this.chunks.find(({ error }) => error)?.error?.metadata.reason
  }

  get question(): string {
    return (
      this.chunks.flatMap(({ choices }) => choices).find(({ delta }) => delta.tool_calls)?.delta.tool_calls?.[0]?.id ??
      ""
    )
  }

  /** The question's display fields, as JSON. */
  get questionText(): string {
    const calls = this.chunks.flatMap(({ choices }) => choices).flatMap(({ delta }) => delta.tool_calls ?? [])
    return calls[0]?.function.arguments ?? ""
  }

  get session(): string {
    return this.chunks.at(-1)?.session_id ?? ""
  }

  get usage() {
    return this.chunks.at(-1)?.usage
  }
}

/** Management and chat of interns with one key. `url` ends in /api/v1. */
export function newInternApi(url: string, key: string) {
  const send = async (method: string, path: string, body?: unknown, signal?: AbortSignal) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
    const given = { ...(body !== undefined && { body: JSON.stringify(body) }), ...(signal && { signal }) }
    return fetch(`${url}${path}`, { method, headers, ...given })
  }
  const json = async <T>(method: string, path: string, body?: unknown) => {
    const response = await send(method, path, body)
    const text = await response.text()
    expect(response.ok, text).toBe(true)
    return JSON.parse(text) as T
  }
  const chat = async (id: string, body: Record<string, unknown>) => {
    const abort = new AbortController()
    const path = `/interns/${id}/chat/completions`
    return new Reading(await send("POST", path, { stream: true, ...body }, abort.signal), abort)
  }
  return {
    json,
    prompt: (id: string, text: string, more: Record<string, unknown> = {}) =>
      chat(id, { approval_mode: "manual", messages: [{ role: "user", content: text }], ...more }),
    answer: (id: string, session: string, question: string, content: string) =>
      chat(id, { session_id: session, messages: [{ role: "tool", tool_call_id: question, content }] }),
  }
}
