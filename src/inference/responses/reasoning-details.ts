import { isObject } from "../chat/reading.ts"
import { withoutNulls } from "./content.ts"
import type { ReasoningItem } from "./input-schemas.ts"

/**
 * What a model thought, as the chat wire carries it (`reasoning_details`) and as items of the Responses wire carry it.
 * Providers verify what comes back: signatures, encrypted content and the ids bound to it travel unchanged both ways.
 */
export type ReasoningDetail = { type: string } & Record<string, unknown>

/** Begins the id of a reasoning item that its provider gave none; such an id is not sent back. */
export const OWN_ID_PREFIX = "rs_gw_"
/** The format of an encrypted content that is no secret: a detail for which an item has no place, as it came. */
export const CARRIED_FORMAT = "gateway-carried-v1"

/** The reasoning of a message or a delta. Some providers tell the same text twice, plain and in details. */
export function readDetails(said: Record<string, unknown>): ReasoningDetail[] {
  const listed = Array.isArray(said["reasoning_details"]) ? (said["reasoning_details"] as unknown[]) : []
  const details = listed.filter(isDetail)
  const plain = [said["reasoning"], said["reasoning_content"]].find((text) => typeof text === "string" && text !== "")
  if (plain === undefined || details.some((detail) => textOf(detail) !== "")) return details
  return [{ type: "reasoning.text", text: plain }, ...details]
}

function isDetail(detail: unknown): detail is ReasoningDetail {
  return isObject(detail) && typeof detail["type"] === "string"
}

/** What the detail says in words, if it does. */
export function textOf(detail: ReasoningDetail): string {
  const text = detail["text"] ?? detail["summary"]
  return typeof text === "string" ? text : ""
}

/** The details from which an item was made, in their order. */
export function toDetails(item: ReasoningItem): ReasoningDetail[] {
  const { encrypted_content: data, signature, summary, content } = item
  if (item.format === CARRIED_FORMAT) return carried(data)
  const format = item.format ?? undefined
  const id = item.id?.startsWith(OWN_ID_PREFIX) || item.id === "" ? undefined : (item.id ?? undefined)
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

function carried(data: string | null | undefined): ReasoningDetail[] {
  try {
    const detail: unknown = JSON.parse(data ?? "")
    return isDetail(detail) ? [detail] : []
  } catch {
    return []
  }
}
