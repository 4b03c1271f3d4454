import { isObject } from "../support/text/json.ts"

/**
 * An element of `reasoning_details`. Providers verify reasoning that is sent back, so signatures, encrypted content and
 * the ids bound to it stay unchanged in every format.
 */
export type ReasoningDetail = { type: string } & Record<string, unknown>

export function isDetail(detail: unknown): detail is ReasoningDetail {
  return isObject(detail) && typeof detail["type"] === "string"
}
