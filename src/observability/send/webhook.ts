import type { Outbound } from "../../outbound/send.ts"
import { webhookHeaders } from "../../outbound/standard-webhook.ts"
import type { ConfigOf } from "../kinds.ts"
import { toOtlp } from "./otlp.ts"
import { USER_AGENT, type Delivery } from "./delivery.ts"

/** OTLP/JSON, signed as in https://www.standardwebhooks.com. */
export async function toWebhook(config: ConfigOf<"webhook">, delivery: Delivery): Promise<Outbound> {
  const body = JSON.stringify(toOtlp(delivery.events, delivery.flags))
  const { id, now } = delivery
  return {
    url: config.url,
    method: config.method,
    headers: {
      ...config.headers,
      "content-type": "application/json",
      "user-agent": USER_AGENT,
      ...(await webhookHeaders(config.signingSecret ?? "", { id, body, now })),
    },
    body,
  }
}
