import type { Outbound } from "../../outbound/send.ts"
import type { Configured } from "../kinds.ts"
import type { CallEvent, Flags } from "../event.ts"
import { toClickhouse, toRamp, toSnowflake } from "./rows.ts"
import { toS3 } from "./s3.ts"
import { toSpans } from "./spans.ts"
import { toWebhook } from "./webhook.ts"

/** What is sent at once. `id` stays the same however often it is tried; `now` in epoch milliseconds. */
export type Delivery = { id: string; events: readonly CallEvent[]; flags: Flags; now: number }

export const USER_AGENT = "edge-model-gateway"

/** A delivery in the words of a destination, as its kind documents them. */
export function toOutbound(to: Configured, delivery: Delivery): Promise<Outbound> | Outbound {
  switch (to.type) {
    case "webhook":
      return toWebhook(to.config, delivery)
    case "s3":
      return toS3(to.config, delivery)
    case "clickhouse":
      return toClickhouse(to.config, delivery)
    case "snowflake":
      return toSnowflake(to.config, delivery)
    case "ramp":
      return toRamp(to.config, delivery)
    default:
      return toSpans(to, delivery)
  }
}
