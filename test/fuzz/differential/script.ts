import type { Random } from "../random.ts"

type Json = Record<string, unknown>

/** The provider's response to one conversation, as JSON or streamed. */
export type Script = {
  status: number
  text: string
  reasoning: string
  calls: { id: string; name: string; args: string }[]
  finish: string
  usage: Json | undefined
  /** Lengths of the chunks of a stream, in turn. */
  pieces: number[]
}

const TEXTS = ["Hello world", "é 漢字 🎈 👩‍👩‍👧‍👦", '{"answer":"é"}', "data: [DONE]\n\n", "a\u0000b\u2028c", "\ud800 lone"]
const ARGUMENTS = ["{}", '{"city":"Rome"}', '{"__proto__":{"a":1},"é":"🎈"}', '{"a":[1,2,{"b":null}]}', ""]

export function newScript(random: Random, toolNames: readonly string[]): Script {
  const isCall = toolNames.length > 0 && random.chance(0.5)
  const calls = Array.from({ length: isCall ? 1 + random.int(3) : 0 }, (_, at) => ({
    id: `call_${at}`,
    name: random.pick(toolNames),
    args: random.pick(ARGUMENTS),
  }))
  const prompt = 1 + random.int(500)
  const completion = 1 + random.int(500)
  const usage = {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...(random.chance(0.3) && { prompt_tokens_details: { cached_tokens: random.int(prompt + 1) } }),
    ...(random.chance(0.3) && { completion_tokens_details: { reasoning_tokens: random.int(completion + 1) } }),
  }
  return {
    status: random.chance(0.1) ? random.pick([400, 404, 413, 422]) : 200,
    text: isCall && random.chance(0.5) ? "" : random.pick(TEXTS),
    reasoning: random.chance(0.2) ? random.pick(TEXTS) : "",
    calls,
    finish: random.pick(isCall ? ["tool_calls", "tool_calls", "stop"] : ["stop", "length", "content_filter"]),
    usage: random.chance(0.9) ? usage : undefined,
    pieces: Array.from({ length: 1 + random.int(4) }, () => 1 + random.int(9)),
  }
}

const HEAD = { id: "up-1", created: 1_790_000_000, model: "vendor-model" }

/** Body and content type of the provider's response. */
export function toResponse(script: Script, isStreamed: boolean): { status: number; type: string; body: string } {
  const { status } = script
  if (status !== 200) return { status, type: "application/json", body: '{"error":{"message":"no","code":"bad"}}' }
  if (isStreamed) return { status, type: "text/event-stream", body: toStream(script) }
  return { status, type: "application/json", body: JSON.stringify(toDocument(script)) }
}

function toDocument({ text, reasoning, calls, finish, usage }: Script): Json {
  const message = {
    role: "assistant",
    content: text === "" ? null : text,
    ...(reasoning !== "" && { reasoning }),
    ...(calls.length > 0 && { tool_calls: calls.map(toCall) }),
  }
  return { ...HEAD, object: "chat.completion", choices: [{ index: 0, message, finish_reason: finish }], usage }
}

const toCall = ({ id, name, args }: Script["calls"][number]) => ({
  id,
  type: "function",
  function: { name, arguments: args },
})

function toStream({ text, reasoning, calls, finish, usage, pieces }: Script): string {
  const chunk = (delta: Json, finishReason: string | null = null) => ({
    ...HEAD,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  })
  const ofCall = (index: number, call: Json) => chunk({ tool_calls: [{ index, ...call }] })
  const chunks: Json[] = [
    chunk({ role: "assistant", content: "" }),
    ...cut(reasoning, pieces).map((piece) => chunk({ reasoning: piece })),
    ...cut(text, pieces).map((content) => chunk({ content })),
    ...calls.flatMap((call, index) => [
      ofCall(index, { ...toCall(call), function: { name: call.name, arguments: "" } }),
      ...cut(call.args, pieces).map((piece) => ofCall(index, { function: { arguments: piece } })),
    ]),
    chunk({}, finish),
    ...(usage ? [{ ...HEAD, object: "chat.completion.chunk", choices: [], usage }] : []),
  ]
  return `${chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`).join("")}data: [DONE]\n\n`
}

/** Splits between any two code units, also inside a surrogate pair. */
function cut(text: string, lengths: readonly number[]): string[] {
  const pieces: string[] = []
  for (let start = 0, turn = 0; start < text.length; turn++) {
    const length = lengths[turn % lengths.length] ?? 1
    pieces.push(text.slice(start, start + length))
    start += length
  }
  return pieces
}
