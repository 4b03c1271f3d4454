/** Size of an upstream response. It is part of the prompt, so that one model serves every workload. */
export type Answer = {
  /** Content events of a stream; 0 requests one JSON document. */
  events: number
  /** Events a second; 0 writes them all at once. */
  perSecond: number
  /** Bytes of a JSON request and of its response. */
  bytes: number
}

export type Workload = Answer & {
  title: string
  path: "chat/completions" | "responses" | "messages"
  concurrency: number
  /** Duration in which requests follow one another; a paced stream has its own. */
  seconds: number
  /** Ends after this many calls instead, if set. */
  calls?: number
}

/** `scale` shortens a quick run. */
export function workloads(scale: number): Workload[] {
  const chat = { path: "chat/completions" as const, bytes: 1_024 }
  const paced = (concurrency: number, perSecond: number, seconds: number) => ({
    ...chat,
    title: `SSE ${concurrency} x ${perSecond}/s`,
    concurrency,
    perSecond,
    seconds,
    events: Math.round(perSecond * seconds),
  })
  const json = { ...chat, events: 0, perSecond: 0, seconds: 1.5 * scale }
  const burst = { ...chat, concurrency: 8, events: 300, perSecond: 0, seconds: 1.5 * scale }
  return [
    { ...json, title: "1 KB JSON", concurrency: 16 },
    { ...json, title: "100 KB JSON", concurrency: 8, bytes: 102_400 },
    { ...burst, title: "SSE burst" },
    // About 1.5 MB a stream, so that reading a long stream costs no more for each event than a short one.
    { ...burst, title: "SSE burst, long", events: 6_000, concurrency: 4 },
    { ...burst, title: "SSE burst, responses", path: "responses" },
    { ...burst, title: "SSE burst, messages", path: "messages" },
    paced(50, 50, 4 * scale),
    paced(200, 20, 2.5 * scale),
    paced(1_000, 2, 5 * scale),
  ]
}

export const MODEL = "bench"
export const USAGE = { prompt_tokens: 210, completion_tokens: 150, total_tokens: 360 }
/** USD a token. */
export const PRICE = { prompt: "0.000001", completion: "0.000002" }
export const COST_NANO_USD = USAGE.prompt_tokens * 1_000 + USAGE.completion_tokens * 2_000

/** After the content come a chunk with the usage and `[DONE]`. */
export const LAST_FRAMES = 2

const LINE = "All work and no play makes a dull benchmark. "

export function requestBody(workload: Workload, extra: Record<string, unknown>): string {
  const { events, perSecond, bytes, path } = workload
  const system = `Answer with [events ${events}, ${perSecond} a second, ${bytes} bytes].`
  const body = (padding: string) => {
    const messages = [
      { role: "system", content: system },
      { role: "user", content: padding },
    ]
    const input =
      path === "responses" ? { input: messages } : { messages: path === "messages" ? messages.slice(1) : messages }
    const limit = path === "messages" ? { max_tokens: 4_096, system } : {}
    return JSON.stringify({ ...extra, stream: events > 0, ...limit, ...input })
  }
  const missing = bytes - body("").length
  return body(LINE.repeat(Math.ceil(missing / LINE.length)).slice(0, missing))
}

export function requestedAnswer(body: string): Answer | undefined {
  const [, events, perSecond, bytes] = /\[events (\d+), (\d+) a second, (\d+) bytes\]/.exec(body) ?? []
  if (events === undefined) return undefined
  return { events: Number(events), perSecond: Number(perSecond), bytes: Number(bytes) }
}

export function textOf({ events, bytes }: Answer): string {
  if (events === 0) return LINE.repeat(Math.floor((bytes * 0.75) / LINE.length))
  return Array.from({ length: events }, (_, index) => wordAt(index)).join("")
}

const ID = { id: "chatcmpl-bench0000000000000000000000", created: 1_790_000_000, model: MODEL }

export function documentOf(answer: Answer): string {
  const message = { role: "assistant", content: textOf(answer), refusal: null, annotations: [] }
  const choices = [{ index: 0, message, logprobs: null, finish_reason: "stop" }]
  return JSON.stringify({ ...ID, object: "chat.completion", choices, usage: USAGE, service_tier: "default" })
}

/** As OpenAI sends it: `usage: null` on every chunk, and a padding of varying length. */
export function contentFrame(index: number, { events }: Answer): string {
  const delta = { ...(index === 0 && { role: "assistant" }), content: wordAt(index) }
  const finish_reason = index === events - 1 ? "stop" : null
  const obfuscation = "a1B2c3D4e5F6".slice(index % 7)
  return chunkFrame({ choices: [{ index: 0, delta, logprobs: null, finish_reason }], usage: null, obfuscation })
}

export const USAGE_FRAME = chunkFrame({ choices: [], usage: USAGE, obfuscation: "" })

function chunkFrame(rest: object): string {
  const names = { ...ID, object: "chat.completion.chunk", service_tier: "default", system_fingerprint: "fp_bench" }
  return `data: ${JSON.stringify({ ...names, ...rest })}\n\n`
}

function wordAt(index: number): string {
  return ` word${index}`
}
