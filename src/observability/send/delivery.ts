import type { ExportEvent, Flags } from "../event.ts"

/** One delivery. `id` is the same in every attempt; `now` in epoch milliseconds. */
export type Delivery = { id: string; events: readonly ExportEvent[]; flags: Flags; now: number }

export const USER_AGENT = "edge-model-gateway"
