import { decodeBase64, toBase64Url } from "../support/text/encoding.ts"
import { internError } from "./lifecycle/reasons.ts"
import { parseJson } from "../support/text/json.ts"
import type { SessionPosition } from "./hosts/rpc.ts"
import type { InternRow } from "./table.ts"

/** Position of the next page, opaque to clients. */
export function toCursor({ createdAt, id }: Pick<InternRow, "createdAt" | "id">): string {
  return toBase64Url(new TextEncoder().encode(`${createdAt}:${id}`))
}

export function readCursor(cursor: string): { createdAt: number; id: string } {
  const bytes = decodeBase64(cursor)
  const [, createdAt, id] = /^(\d{1,15}):([0-9a-f-]{36})$/.exec(bytes ? new TextDecoder().decode(bytes) : "") ?? []
  if (createdAt === undefined || id === undefined) {
    throw internError("invalid_body", "starting_after: must be the next_cursor of a previous page.")
  }
  return { createdAt: Number(createdAt), id }
}

export function toSessionCursor({ updatedAt, id }: SessionPosition): string {
  return toBase64Url(new TextEncoder().encode(JSON.stringify([updatedAt, id])))
}

/** Undefined for an invalid cursor. */
export function readSessionCursor(cursor: string): SessionPosition | undefined {
  const bytes = decodeBase64(cursor)
  const position = bytes && parseJson(new TextDecoder().decode(bytes))
  if (!Array.isArray(position)) return undefined
  const [updatedAt, id] = position as unknown[]
  return Number.isSafeInteger(updatedAt) && typeof id === "string" ? { updatedAt: Number(updatedAt), id } : undefined
}
