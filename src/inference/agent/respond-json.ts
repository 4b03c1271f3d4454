import { isArray, type Json, listOf } from "../../support/text/json.ts"
import { heal } from "../../plugins/response-healing.ts"

import type { ResponseEncoder } from "../../formats/encoder.ts"
import type { Agent, ToolRunDetails } from "./agent.ts"
import { renumber } from "./details.ts"
import { readJsonRound, type Round } from "./round.ts"
import { servingInfoOf, chargeOf, finishOf, isJson } from "./respond.ts"

/** Runs the rounds to the end and returns one JSON document. */
export async function respondJson(
  agent: Agent,
  encoder: ResponseEncoder,
  first: Response,
  signal: AbortSignal,
): Promise<Json> {
  /** Messages and tool runs before the last message. */
  const earlier: Json[] = []
  let response = first
  for (;;) {
    const round = await readJsonRound(response, (metadata) => (agent.metadata = metadata))
    const calls = agent.pending(round)
    const details = renumber(round.message["reasoning_details"], agent.detailOffset)
    const turn: Json = { ...round.message, reasoning_details: details, tool_calls: agent.foreign(round) }
    const { details: runs, continues }: ToolRunDetails =
      calls.length > 0 ? await agent.runTools(round, calls, signal) : { details: [], continues: false }
    const done = runs.map((run) => ({ reasoning_details: [run] }))
    if (!continues) return encodeResponse(agent, encoder, round, { earlier, turn, done })
    earlier.push(turn, ...done)
    response = await agent.nextResponse(signal)
  }
}

type FinishedTurns = { earlier: Json[]; turn: Json; done: Json[] }

/** Encodes the turns separately for a format with output items; otherwise merges them into one message. */
function encodeResponse(
  agent: Agent,
  encoder: ResponseEncoder,
  round: Round,
  { earlier, turn, done }: FinishedTurns,
): Json {
  const { prepared, emitsToolItems } = agent.job
  const { chat, heals } = prepared
  const { finishReason, nativeFinishReason, head } = round
  const last = emitsToolItems ? turn : merge([...earlier, turn, ...done])
  if (heals && isJson(chat) && typeof last["content"] === "string")
    last["content"] = heal(last["content"]) ?? last["content"]
  if (agent.annotations.length > 0) last["annotations"] = [...listOf(last["annotations"]), ...agent.annotations]
  const [message, ...before] = emitsToolItems ? [...earlier, last, ...done].toReversed() : [last]
  const choice = {
    index: 0,
    message,
    finish_reason: finishOf(finishReason, listOf(last["tool_calls"]).length),
    ...(nativeFinishReason !== undefined && { native_finish_reason: nativeFinishReason }),
  }
  const { usage } = agent.total
  const result = { ...head, object: "chat.completion", choices: [choice], ...(usage && { usage }) }
  return encoder.document(result, servingInfoOf(head, chat.model ?? ""), chargeOf(agent), before.toReversed())
}

/** Merges turns into one message: concatenates texts and lists, and takes the last value of other fields. */
function merge(messages: readonly Json[]): Json {
  const reported: Json = { role: "assistant", content: null }
  for (const [key, value] of messages.flatMap(Object.entries<unknown>)) {
    const before = reported[key]
    if (key === "role" || value === null || value === undefined) continue
    if (isArray(value)) {
      if (value.length > 0) reported[key] = [...listOf(before), ...value]
    } else reported[key] = typeof value === "string" && typeof before === "string" ? before + value : value
  }
  return reported
}
