import { type Message, textOf } from "../calls/content.ts"

/** A logged conversation for the playground: turns with replies, and the prompt that follows them. */
export type Replay = { system: string; turns: { text: string; reply: string }[]; prompt: string }

/** Tool calls and their results are left out: the playground has the reply to each prompt. */
export function replayOf(messages: readonly Message[]): Replay {
  const system: string[] = []
  const turns: Replay["turns"] = []
  let question: string[] = []
  for (const { role, content } of messages) {
    const text = textOf(content)
    if (text.trim() === "") continue
    if (role === "system" || role === "developer") system.push(text)
    else if (role === "user") question.push(text)
    else if (role === "assistant" && question.length > 0) {
      turns.push({ text: question.join("\n"), reply: text })
      question = []
    }
  }
  return { system: system.join("\n"), turns, prompt: question.join("\n") }
}
