import { v7 } from "uuid"
import { sha256Hex } from "./encoding.ts"

/** Sortable by time: the id of every record. */
export function newId(): string {
  return v7()
}

export function newGenerationId(): string {
  return `gen-${v7()}`
}

/** The same id for the same parts, always: of what is known by what it belongs to. */
export function derivedId(kind: string, ...parts: string[]): string {
  const hex = sha256Hex(JSON.stringify([kind, ...parts]))
  // Version 8, the one for ids of one's own making.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
