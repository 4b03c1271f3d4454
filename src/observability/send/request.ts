import type { Outbound } from "../../outbound/send.ts"
import type { Configured } from "../kinds.ts"
import { toClickhouse, toRamp, toSnowflake } from "./rows.ts"
import { toS3 } from "./s3.ts"
import { toSpans } from "./spans.ts"
import { toWebhook } from "./webhook.ts"
import type { Delivery } from "./delivery.ts"

/** A delivery in the documented format of the destination's kind. */
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
