import type { Outbound } from "../../outbound/send.ts"
import { decodeBase64 } from "../../support/encoding.ts"
import type { ConfigOf } from "../kinds.ts"
import { toOtlp } from "./otlp.ts"
import { USER_AGENT, type Delivery } from "./delivery.ts"

/**
 * OTLP/JSON, signed by https://www.standardwebhooks.com: `webhook-signature` is `v1,` and the base64 HMAC-SHA-256 of
 * id, timestamp in seconds and body, joined by dots. The key are the bytes after `whsec_`.
 */
export async function toWebhook(config: ConfigOf<"webhook">, delivery: Delivery): Promise<Outbound> {
  const body = JSON.stringify(toOtlp(delivery.events, delivery.flags))
  const timestamp = String(Math.floor(delivery.now / 1_000))
  return {
    url: config.url,
    method: config.method,
    headers: {
      ...config.headers,
      "content-type": "application/json",
      "user-agent": USER_AGENT,
      "webhook-id": delivery.id,
      "webhook-timestamp": timestamp,
      "webhook-signature": await sign(config.signingSecret ?? "", `${delivery.id}.${timestamp}.${body}`),
    },
    body,
  }
}

async function sign(secret: string, text: string): Promise<string> {
  const bytes = decodeBase64(secret.slice("whsec_".length)) ?? new Uint8Array()
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"])
  const signed = new Uint8Array(await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(text)))
  return `v1,${btoa(String.fromCharCode(...signed))}`
}
