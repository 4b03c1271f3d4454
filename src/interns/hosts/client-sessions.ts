import { parseStored, type Json } from "../../support/text/json.ts"
import { toTimestamp } from "../../support/time/time.ts"
import { HOME } from "../embedded/home.ts"
import { record, text } from "../run/acp/acp-values.ts"
import type { SessionRecord, StoredEntry, TranscriptEntry } from "../run/transcript.ts"

/** Sessions of an intern as ACP clients see them. https://agentclientprotocol.com/protocol/session-list */

/** Maximum of sessions in one response to `session/list`. */
export const CLIENT_PAGE = 50

/** An intern has one folder, so a session is in the folder that the client requests. */
export function toSessionInfo({ id, title, updatedAt }: SessionRecord, cwd: unknown) {
  const folder = typeof cwd === "string" && cwd !== "" ? cwd : HOME
  return { sessionId: id, cwd: folder, title, updatedAt: toTimestamp(updatedAt) }
}

/** Whether an update belongs to the conversation, not to the agent's state. */
export function isConversation({ sessionUpdate }: Json): boolean {
  return typeof sessionUpdate === "string" && /_chunk$|^tool_call/.test(sessionUpdate)
}

/** Converts a transcript to updates, for a client that loads a session of an agent without replay. */
export function transcriptUpdates(entries: readonly StoredEntry[]): Json[] {
  const started = new Set<string>()
  return entries.flatMap(({ body }) => {
    const entry = parseStored<TranscriptEntry>(body)
    if (entry.kind !== "tool_call") return toChunk(entry)
    const { kind: _, id: toolCallId, title, status, diffs: __, ...input } = entry
    const sessionUpdate = started.has(toolCallId) ? "tool_call_update" : "tool_call"
    started.add(toolCallId)
    return [
      {
        sessionUpdate,
        toolCallId,
        status,
        ...(title !== "" && { title }),
        ...(Object.keys(input).length > 0 && { rawInput: input }),
      },
    ]
  })
}

const CHUNKS = { prompt: "user_message_chunk", text: "agent_message_chunk", reasoning: "agent_thought_chunk" }

function toChunk(entry: TranscriptEntry): Json[] {
  if (entry.kind !== "prompt" && entry.kind !== "text" && entry.kind !== "reasoning") return []
  return [{ sessionUpdate: CHUNKS[entry.kind], content: { type: "text", text: entry.text } }]
}

/** The text of a prompt for a transcript, which has no attachments. */
export function promptText(blocks: readonly unknown[]): string {
  return blocks.map(blockText).join("\n")
}

function blockText(block: unknown): string {
  const { type, text: blockContent, uri, resource } = record(block)
  return text(blockContent) ?? text(uri) ?? text(record(resource)["uri"]) ?? `[${text(type) ?? "content"}]`
}
