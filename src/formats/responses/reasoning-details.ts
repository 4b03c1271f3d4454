import { listOf, withoutNulls } from "../../support/text/json.ts"
import { isDetail, type ReasoningDetail } from "../reasoning-detail.ts"
import { isGatewayBlob, encodeBlob, decodeBlob } from "./opaque-blob.ts"
import type { ReasoningItem } from "./input-schemas.ts"

/** Converts reasoning between the chat format (`reasoning_details`) and Responses items. */

/** Prefix of ids that the gateway gives to reasoning items without one. Such ids are not sent upstream. */
export const GATEWAY_ID_PREFIX = "rs_gw_"

/** The reasoning of a message or a delta. Some providers send the same text twice, as text and in details. */
export function readDetails(message: Record<string, unknown>): ReasoningDetail[] {
  const listed = listOf(message["reasoning_details"])
  const details = listed.filter(isDetail)
  const plain = [message["reasoning"], message["reasoning_content"]].find(
    (text) => typeof text === "string" && text !== "",
  )
  if (plain === undefined || details.some((detail) => textOf(detail) !== "")) return details
  return [{ type: "reasoning.text", text: plain }, ...details]
}

/** The text of a detail, if it has any. */
export function textOf(detail: ReasoningDetail): string {
  const text = detail["text"] ?? detail["summary"]
  return typeof text === "string" ? text : ""
}

/** Restores the details of an item, in their order. */
export function toDetails(item: ReasoningItem): ReasoningDetail[] {
  const { encrypted_content: data, signature, summary, content } = item
  const carried = decodeBlob(data)
  if (carried) return carried
  const format = item.format ?? undefined
  const id = item.id?.startsWith(GATEWAY_ID_PREFIX) || item.id === "" ? undefined : (item.id ?? undefined)
  const common = withoutNulls({ id, format })
  const summaries = (summary ?? []).map(({ text }) => ({ type: "reasoning.summary", summary: text, ...common }))
  const texts: ReasoningDetail[] = (content ?? []).map(({ text }) => ({ type: "reasoning.text", text, ...common }))
  if (signature != null) {
    const signed = texts.pop() ?? { type: "reasoning.text", text: "", ...common }
    texts.push({ ...signed, signature })
  }
  const encrypted = data == null ? [] : [{ type: "reasoning.encrypted", data, ...common }]
  return [...summaries, ...texts, ...encrypted]
}

/**
 * The encrypted content of an item. Responses clients keep only this, the id and the summary, so other data that a
 * provider verifies is encoded in it. Encrypted content of Responses providers stays unchanged.
 */
export function toEncryptedContent(item: ReasoningItem): string | null {
  const { encrypted_content: data, signature, format } = item
  const isSelfContained = isGatewayBlob(data) || (signature == null && isResponsesFormat(format))
  return isSelfContained ? (data ?? null) : encodeBlob(toDetails(item))
}

export function isResponsesFormat(format: string | null | undefined): boolean {
  return format == null || format.endsWith("-responses-v1")
}
