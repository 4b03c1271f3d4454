import type { CallStory } from "../../api/types.ts"

export type Message = { role?: string; content?: unknown }

export function textOf(content: unknown): string {
  if (typeof content === "string") return content
  if (!Array.isArray(content)) return content === null || content === undefined ? "" : JSON.stringify(content)
  return content
    .map((part: { text?: unknown }) => (typeof part.text === "string" ? part.text : "[attachment]"))
    .join("\n")
}

/** The logged messages of a call. */
export function messagesIn({ content }: Pick<CallStory, "content">): Message[] {
  return (content?.input.messages ?? []) as Message[]
}
