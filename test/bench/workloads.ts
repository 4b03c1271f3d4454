/** What an answer of the upstream holds. The prompt says it, so that one model serves every workload. */
export type Answer = {
  /** Content events of a stream; 0 asks for one JSON document. */
  events: number
  /** Events a second; 0 writes them all at once. */
  perSecond: number
}

export type Workload = Answer & {
  title: string
  concurrency: number
  /** How long requests follow one another; a paced stream lasts as long as it lasts. */
  seconds: number
}

/** `scale` shortens a quick run. */
export function workloads(scale: number): Workload[] {
  const paced = (concurrency: number, perSecond: number, seconds: number) => ({
    title: `SSE ${concurrency} x ${perSecond}/s`,
    concurrency,
    perSecond,
    seconds,
    events: Math.round(perSecond * seconds),
  })
  return [
    { title: "1 KB JSON", concurrency: 16, events: 0, perSecond: 0, seconds: 1.5 * scale },
    { title: "SSE burst", concurrency: 8, events: 300, perSecond: 0, seconds: 1.5 * scale },
    paced(50, 50, 4 * scale),
    paced(200, 20, 2.5 * scale),
  ]
}

export const MODEL = "bench"
export const USAGE = { prompt_tokens: 210, completion_tokens: 150, total_tokens: 360 }
/** USD a token. */
export const PRICE = { prompt: "0.000001", completion: "0.000002" }
export const COST_NANO_USD = USAGE.prompt_tokens * 1_000 + USAGE.completion_tokens * 2_000

/** After the content come a chunk with the usage and `[DONE]`. */
export const LAST_FRAMES = 2
/**
 * Without a space, which is as good as with one. Whoever rewrites a stream ends it in its own way; whoever passes the
 * bytes on ends it so: this tells the lanes of the gateway apart.
 */
export const DONE_AS_SENT = "data:[DONE]"

const BODY_BYTES = 1_024
const WHOLE_TEXT = "All work and no play makes a dull benchmark. ".repeat(17)

export function requestBody({ events, perSecond }: Answer, extra: Record<string, unknown>): string {
  const body = (padding: string) =>
    JSON.stringify({
      ...extra,
      stream: events > 0,
      messages: [
        { role: "system", content: `Answer with [events ${events}, ${perSecond} a second].` },
        { role: "user", content: padding },
      ],
    })
  return body("x".repeat(BODY_BYTES - body("").length))
}

export function askedAnswer(body: string): Answer | undefined {
  const [, events, perSecond] = /\[events (\d+), (\d+) a second\]/.exec(body) ?? []
  return events === undefined ? undefined : { events: Number(events), perSecond: Number(perSecond) }
}

export function textOf({ events }: Answer): string {
  return events === 0 ? WHOLE_TEXT : Array.from({ length: events }, (_, index) => word(index)).join("")
}

const ID = { id: "chatcmpl-bench0000000000000000000000", created: 1_790_000_000, model: MODEL }

export const WHOLE_ANSWER = JSON.stringify({
  ...ID,
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content: WHOLE_TEXT }, finish_reason: "stop", logprobs: null }],
  usage: USAGE,
})

export function contentFrame(index: number, { events }: Answer): string {
  const delta = { ...(index === 0 && { role: "assistant" }), content: word(index) }
  const finish_reason = index === events - 1 ? "stop" : null
  return chunkFrame({ choices: [{ index: 0, delta, logprobs: null, finish_reason }] })
}

export const USAGE_FRAME = chunkFrame({ choices: [], usage: USAGE })

function chunkFrame(rest: object): string {
  return `data: ${JSON.stringify({ ...ID, object: "chat.completion.chunk", system_fingerprint: "fp_bench", ...rest })}\n\n`
}

function word(index: number): string {
  return ` word${index}`
}
