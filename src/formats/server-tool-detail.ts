import type { Json } from "../support/json.ts"

export const SERVER_TOOL_DETAIL = "reasoning.server_tool_call"

/** Whether a detail is the record of a run of the gateway's; a vendor's own have the format of their provider. */
export function isRun({ type, format }: Json): boolean {
  return type === SERVER_TOOL_DETAIL && format == null
}
