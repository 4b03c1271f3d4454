import type { SessionStep } from "./outbound.ts"
import type { TestSession } from "./realtime.ts"

/** Makes the scripted provider do these steps in the session. */
export function runSteps(session: TestSession, steps: readonly SessionStep[]): void {
  const content = [{ type: "input_text", text: JSON.stringify(steps) }]
  session.send({ type: "conversation.item.create", item: { type: "message", role: "user", content } })
}

export type ScriptedUsage = {
  text: number
  audio: number
  cachedText: number
  cachedAudio: number
  outText: number
  outAudio: number
}

/** Usage of a response in the format of the API. */
export function usageOf({ text, audio, cachedText, cachedAudio, outText, outAudio }: ScriptedUsage) {
  return {
    total_tokens: text + audio + outText + outAudio,
    input_tokens: text + audio,
    output_tokens: outText + outAudio,
    input_token_details: {
      text_tokens: text,
      audio_tokens: audio,
      cached_tokens: cachedText + cachedAudio,
      cached_tokens_details: { text_tokens: cachedText, audio_tokens: cachedAudio },
    },
    output_token_details: { text_tokens: outText, audio_tokens: outAudio },
  }
}

/** The cost of the usage at the prices of `played/live`, in nano-USD. */
export function nanoOf({ text, audio, cachedText, cachedAudio, outText, outAudio }: ScriptedUsage): number {
  const tenths =
    (text - cachedText) * 40_000 +
    (audio - cachedAudio) * 320_000 +
    cachedText * 4_000 +
    cachedAudio * 5_000 +
    outText * 160_000 +
    outAudio * 640_000
  return tenths / 10
}

export const begun = (id: string): SessionStep => ({ send: { type: "response.created", response: { id } } })
export const delta = (id: string, text: string): SessionStep => ({
  send: { type: "response.output_text.delta", response_id: id, delta: text },
})
export const ended = (id: string, usage: unknown, status = "completed"): SessionStep => ({
  send: { type: "response.done", response: { id, status, usage, output: [] } },
})
