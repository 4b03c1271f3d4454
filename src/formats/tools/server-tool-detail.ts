import type { Json } from "../../support/text/json.ts"

export const SERVER_TOOL_DETAIL = "reasoning.server_tool_call"

/** Whether a reasoning detail records a run of a server tool. A vendor's own details have a `format`. */
export function isRun({ type, format }: Json): boolean {
  return type === SERVER_TOOL_DETAIL && format == null
}
