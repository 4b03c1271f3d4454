import { heal } from "../../plugins/response-healing.ts"
import type { Dialect } from "../dialect.ts"
import type { Agent } from "./agent.ts"
import { renumber } from "./details.ts"
import { readWholeRound } from "./round.ts"
import { answeringOf, chargeOf, finishOf, isJson, listOf } from "./telling.ts"

type Json = Record<string, unknown>

/** The rounds to their end, and their answer in one document. */
export async function tellWhole(agent: Agent, dialect: Dialect, first: Response, signal: AbortSignal): Promise<Json> {
  const { chat, heals } = agent.job.prepared
  const told: Json = { role: "assistant", content: null }
  let response = first
  for (;;) {
    const round = await readWholeRound(response, (metadata) => (agent.metadata = metadata))
    const own = agent.pending(round)
    addMessage(told, { ...round.message, tool_calls: agent.foreign(round) }, agent.detailOffset)
    const { details, goesOn } =
      own.length > 0 ? await agent.answer(round, own, signal) : { details: [] as Json[], goesOn: false }
    addMessage(told, { reasoning_details: details }, 0)
    if (goesOn) {
      response = await agent.ask(signal)
      continue
    }
    if (heals && isJson(chat) && typeof told["content"] === "string")
      told["content"] = heal(told["content"]) ?? told["content"]
    if (agent.annotations.length > 0) told["annotations"] = [...listOf(told["annotations"]), ...agent.annotations]
    const { finishReason, nativeFinishReason, head } = round
    const choice = {
      index: 0,
      message: told,
      finish_reason: finishOf(finishReason, listOf(told["tool_calls"]).length),
      ...(nativeFinishReason !== undefined && { native_finish_reason: nativeFinishReason }),
    }
    const { usage } = agent.total
    const result = { ...head, object: "chat.completion", choices: [choice], ...(usage && { usage }) }
    return dialect.whole(result, answeringOf(head, chat.model ?? ""), chargeOf(agent))
  }
}

/** Adds what a round said to what was said before: texts and lists grow, the rest is the later one's. */
function addMessage(told: Json, said: Json, detailOffset: number): void {
  for (const [key, value] of Object.entries(said)) {
    const before = told[key]
    if (key === "role" || value === null || value === undefined) continue
    if (Array.isArray(value)) {
      const list = key === "reasoning_details" ? renumber(value, detailOffset) : value
      if (value.length > 0) told[key] = [...listOf(before), ...listOf(list)]
    } else told[key] = typeof value === "string" && typeof before === "string" ? before + value : value
  }
}
