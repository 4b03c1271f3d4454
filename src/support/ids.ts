import { v7 } from "uuid"
import { sha256Hex } from "./text/encoding.ts"

/** A time-sortable id for records. */
export function newId(): string {
  return v7()
}

/** A random id of 32 hex digits, for formats whose ids are a prefix and digits: `call_0192…`. */
export function newHexId(): string {
  return crypto.randomUUID().replaceAll("-", "")
}

/** Request id for log lines, the response header and generations. */
export function newRequestId(): string {
  return `req-${crypto.randomUUID()}`
}

export function newGenerationId(): string {
  return `gen-${v7()}`
}

/** Whether a text has the form of an id that is a prefix and a UUID: `file_0192…`. */
export function hasIdForm(prefix: string, text: string): boolean {
  return text.startsWith(prefix) && UUID.test(text.slice(prefix.length))
}
export const UUID_PATTERN = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
const UUID = new RegExp(`^${UUID_PATTERN}$`)

/** The UUID in an id, as 32 hex digits. */
export function uuidOf(id: string): string {
  return id.slice(-36).replaceAll("-", "")
}

/** Creation time of a time-sorted id, in epoch milliseconds. */
export function timeOf(id: string): number {
  return Number.parseInt(uuidOf(id).slice(0, 12), 16)
}

/** Deterministic id of the given parts that sorts by time. `at`: epoch milliseconds. */
export function derivedIdAt(at: number, kind: string, ...parts: string[]): string {
  const time = at.toString(16).padStart(12, "0")
  return `${time.slice(0, 8)}-${time.slice(8)}${derivedId(kind, ...parts).slice(13)}`
}

/** Deterministic id of the given parts. */
export function derivedId(kind: string, ...parts: string[]): string {
  const hex = sha256Hex(JSON.stringify([kind, ...parts]))
  // Version 8, for custom UUIDs.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
