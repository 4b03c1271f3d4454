import { decodeBase64 } from "../support/text/encoding.ts"

const PREFIX = "whsec_"
const SECRET_BYTES = 32

/** Webhooks as specified by https://www.standardwebhooks.com. */
export type SignedWebhook = { id: string; body: string; now: number }

/** A new signing secret: `whsec_` and 32 random bytes in base64. */
export function newSigningSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES))
  return `${PREFIX}${btoa(String.fromCharCode(...bytes))}`
}

/**
 * The headers of a delivery. `webhook-signature` is `v1,` and the base64 HMAC-SHA-256 of id, timestamp in seconds and
 * body, joined by dots. The key is the decoded part after `whsec_`.
 */
export async function webhookHeaders(
  secret: string,
  { id, body, now }: SignedWebhook,
): Promise<Record<string, string>> {
  const timestamp = String(Math.floor(now / 1_000))
  const signature = await sign(secret, `${id}.${timestamp}.${body}`)
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature }
}

async function sign(secret: string, text: string): Promise<string> {
  const bytes = decodeBase64(secret.slice(PREFIX.length)) ?? new Uint8Array()
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"])
  const signed = new Uint8Array(await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(text)))
  return `v1,${btoa(String.fromCharCode(...signed))}`
}
