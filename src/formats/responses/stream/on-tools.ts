import { isObject } from "../../../support/text/json.ts"
import type { ReasoningDetail } from "../../reasoning-detail.ts"
import { itemAt } from "./drafts.ts"
import { addItem, closeOpen, emit, replaceItem, type Turn } from "./turn.ts"

/** Adds a run of a server tool as a separate item, next to the detail that clients send back. */
export function onServerTool(turn: Turn, detail: ReasoningDetail): ReasoningDetail {
  const { item, ...carried } = detail
  if (!isObject(item)) return detail
  const { type, status, ...fields } = item
  if (typeof type !== "string") return detail
  closeOpen(turn)
  const draft = { type: "server_tool" as const, id: `st_${turn.state.facts.newId()}`, toolType: type, fields }
  const at = addItem(turn, { ...draft, status: "in_progress" })
  if (type === "web_search_call") {
    for (const step of ["in_progress", "searching", "completed"]) {
      emit(turn, `response.web_search_call.${step}`, { item_id: draft.id, output_index: at })
    }
  }
  if (type === "mcp_call") {
    const position = { item_id: draft.id, output_index: at }
    emit(turn, "response.mcp_call.in_progress", position)
    emit(turn, "response.mcp_call_arguments.done", { ...position, arguments: fields["arguments"] })
    emit(turn, `response.mcp_call.${status === "failed" ? "failed" : "completed"}`, position)
  }
  replaceItem(turn, at, { ...draft, status: typeof status === "string" ? status : "completed" })
  emit(turn, "response.output_item.done", { output_index: at, item: itemAt(turn.state, at) })
  return carried
}
