import type { CallEvent, Flags } from "../event.ts"

/** What is sent at once. `id` stays the same however often it is tried; `now` in epoch milliseconds. */
export type Delivery = { id: string; events: readonly CallEvent[]; flags: Flags; now: number }

export const USER_AGENT = "edge-model-gateway"
