import { isObject, type Json } from "../../../support/text/json.ts"

/** Merges streamed reasoning fragments into complete blocks, which providers require in the next request. */
export function mergeDetails(pieces: readonly unknown[]): Json[] {
  const merged: Json[] = []
  for (const piece of pieces) {
    if (!isObject(piece)) continue
    const last = merged.at(-1)
    if (last && continues(last, piece)) merged[merged.length - 1] = join(last, piece)
    else merged.push({ ...piece })
  }
  return merged
}

function continues(last: Json, piece: Json): boolean {
  const { type } = piece
  if (last["type"] !== type || (type !== "reasoning.text" && type !== "reasoning.summary")) return false
  if (last["index"] !== piece["index"]) return false
  // A block is closed by its signature.
  return typeof last["signature"] !== "string" || last["signature"] === ""
}

function join(last: Json, piece: Json): Json {
  const key = last["type"] === "reasoning.summary" ? "summary" : "text"
  const text = [last[key], piece[key]].filter((one) => typeof one === "string").join("")
  const result = Object.fromEntries(Object.entries(piece).filter(([, value]) => value !== null && value !== undefined))
  return { ...last, ...result, [key]: text }
}
