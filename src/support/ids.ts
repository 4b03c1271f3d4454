import { v7 } from "uuid"

/** Sortable by time: the id of every record. */
export function newId(): string {
  return v7()
}

export function newGenerationId(): string {
  return `gen-${v7()}`
}
