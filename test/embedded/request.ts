import worker from "../../src/embedded/index.ts"

export { worker }

interface Delta {
  content?: string | null
  refusal?: string
  reasoning?: string
  tool_calls?: Call[]
}

interface Call {
  index: number
  id?: string
  function: { name?: string; arguments: string }
}

export interface Answer {
  id: string
  choices: {
    index: number
    delta?: Delta
    message?: Delta
    finish_reason?: string | null
  }[]
  usage?: {
    prompt_tokens: number
    completion_tokens: number
    total_tokens: number
    completion_tokens_details?: { reasoning_tokens: number }
  } | null
}

export function user(text: string) {
  return [{ role: "user", content: text }]
}

export function post(body: string, init: RequestInit = {}): Promise<Response> {
  const headers = { "content-type": "application/json", authorization: "Bearer sk-upstream" }
  return worker.fetch(new Request("https://embedded/v1/chat/completions", { method: "POST", headers, body, ...init }))
}

export function request(model: string, text: string, more: object = {}, init: RequestInit = {}): Promise<Response> {
  return post(JSON.stringify({ model, messages: user(text), ...more }), init)
}

export async function document(model: string, text: string, more: object = {}): Promise<Answer> {
  return (await request(model, text, more)).json() as Promise<Answer>
}

/** The chunks of a streamed response, with usage and without `[DONE]`. */
export async function stream(model: string, text: string, more: object = {}): Promise<Answer[]> {
  const answered = await request(model, text, { stream: true, stream_options: { include_usage: true }, ...more })
  return chunksOf(await answered.text())
}

export function chunksOf(text: string): Answer[] {
  return events(text)
    .filter((data) => data !== "[DONE]")
    .map((data) => JSON.parse(data) as Answer)
}

/** The data of each event. */
export function events(text: string): string[] {
  const lines = text.split(/\r\n|\n/)
  return lines.filter((line) => line.startsWith("data: ")).map((line) => line.slice(6))
}

export function contentOf(answers: readonly Answer[]): string {
  return answers.map(({ choices }) => choices[0]?.delta?.content ?? choices[0]?.message?.content ?? "").join("")
}

/** Reads a body until it ends or breaks, keeping its chunks. */
export async function read(response: Response): Promise<{ text: string; chunks: Uint8Array[]; broke: boolean }> {
  const decoder = new TextDecoder()
  const chunks: Uint8Array[] = []
  let text = ""
  try {
    for await (const chunk of response.body ?? []) {
      chunks.push(chunk)
      text += decoder.decode(chunk, { stream: true })
    }
    return { text, chunks, broke: false }
  } catch {
    return { text, chunks, broke: true }
  }
}
