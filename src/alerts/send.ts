import type { Outbound } from "../outbound/send.ts"
import { webhookHeaders } from "../outbound/standard-webhook.ts"
import { USER_AGENT } from "../observability/send/delivery.ts"
import { toTimestamp } from "../support/time/time.ts"
import type { Alert, ChannelType } from "./alert.ts"
import type { ConfigOf } from "./schemas.ts"

type Configured = { [T in ChannelType]: { type: T; config: ConfigOf<T> } }[ChannelType]

const JSON_HEADERS = { "content-type": "application/json", "user-agent": USER_AGENT }

/** The request that sends an alert. `deliveryId` is the same in every attempt. */
export async function toOutbound(
  configured: Configured,
  alert: Alert,
  { deliveryId, now }: { deliveryId: string; now: number },
): Promise<Outbound> {
  switch (configured.type) {
    case "webhook": {
      const { url, signing_secret: secret } = configured.config
      const body = JSON.stringify(toPayload(alert))
      const signed = await webhookHeaders(secret ?? "", { id: deliveryId, body, now })
      return { url, method: "POST", headers: { ...JSON_HEADERS, ...signed }, body }
    }
    case "slack": {
      const body = JSON.stringify({ text: escapeSlack(alert.message) })
      return { url: configured.config.url, method: "POST", headers: JSON_HEADERS, body }
    }
    case "email":
      return toEmail(configured.config, alert, deliveryId)
  }
}

/** The body of a webhook, as https://www.standardwebhooks.com recommends. */
export function toPayload({ id, kind, workspaceId, message, data, createdAt }: Alert) {
  const timestamp = toTimestamp(createdAt)
  return { type: `alert.${kind}`, timestamp, data: { id, workspace_id: workspaceId, kind, message, data } }
}

/** Slack reads these three as markup: https://docs.slack.dev/messaging/formatting-message-text */
function escapeSlack(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
}

const MAX_SUBJECT = 150

type Mail = ConfigOf<"email"> & { subject: string; text: string; deliveryId: string }

function toEmail(config: ConfigOf<"email">, alert: Alert, deliveryId: string): Outbound {
  const subject = `Gateway alert: ${alert.message}`.slice(0, MAX_SUBJECT)
  const details = JSON.stringify(alert.data, null, 2)
  const text = `${alert.message}\n\n${toTimestamp(alert.createdAt)}\n${alert.kind}\n${details}\n`
  return MAILERS[config.provider]({ ...config, subject, text, deliveryId })
}

/** From the documentation of each mailer, November 2026. */
const MAILERS: Record<ConfigOf<"email">["provider"], (mail: Mail) => Outbound> = {
  resend: ({ api_key, base_url, from, to, subject, text, deliveryId }) =>
    post(
      `${base(base_url, "https://api.resend.com")}/emails`,
      { from, to, subject, text },
      {
        authorization: `Bearer ${api_key}`,
        "idempotency-key": deliveryId,
      },
    ),
  postmark: ({ api_key, base_url, from, to, subject, text }) =>
    post(
      `${base(base_url, "https://api.postmarkapp.com")}/email`,
      { From: from, To: to.join(","), Subject: subject, TextBody: text },
      { accept: "application/json", "x-postmark-server-token": api_key },
    ),
  sendgrid: ({ api_key, base_url, from, to, subject, text }) =>
    post(
      `${base(base_url, "https://api.sendgrid.com")}/v3/mail/send`,
      {
        personalizations: [{ to: to.map((email) => ({ email })) }],
        from: { email: from },
        subject,
        content: [{ type: "text/plain", value: text }],
      },
      { authorization: `Bearer ${api_key}` },
    ),
  mailgun: ({ api_key, base_url, domain = "", from, to, subject, text }) => ({
    url: `${base(base_url, "https://api.mailgun.net")}/v3/${domain}/messages`,
    method: "POST",
    headers: {
      authorization: `Basic ${btoa(`api:${api_key}`)}`,
      "content-type": "application/x-www-form-urlencoded",
      "user-agent": USER_AGENT,
    },
    body: new URLSearchParams({ from, to: to.join(","), subject, text }).toString(),
  }),
}

function base(configured: string | undefined, fallback: string): string {
  return (configured ?? fallback).replace(/\/+$/, "")
}

function post(url: string, body: object, headers: Record<string, string>): Outbound {
  return { url, method: "POST", headers: { ...JSON_HEADERS, ...headers }, body: JSON.stringify(body) }
}

export type { Configured }
