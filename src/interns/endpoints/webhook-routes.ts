import { createRoute } from "@hono/zod-openapi"
import * as z from "zod"
import { entryOf } from "../../audit/actor.ts"
import { insertAudit } from "../../audit/store.ts"
import { acceptJson, newRouter } from "../../http/router.ts"
import { failures, jsonBody, ok } from "../../http/schema.ts"
import { keptUrl, maskUrl, requireUnmaskedUrl } from "../../outbound/masked-url.ts"
import { outboundRejection } from "../../outbound/send.ts"
import { hostsIn } from "../../outbound/settings.ts"
import { newSigningSecret } from "../../outbound/standard-webhook.ts"
import { newId } from "../../support/ids.ts"
import { toTimestamp } from "../../support/time/time.ts"
import { auditIntern, CONTROL_FAILURES, CONTROL_RIGHTS, controlGuards, controlledIntern } from "../lifecycle/control.ts"
import { MAX_INTERN_BODY_BYTES } from "../access/guards.ts"
import { identityOf, openIntern } from "../lifecycle/open-intern.ts"
import { internError } from "../lifecycle/reasons.ts"
import { internParams } from "../routes.ts"
import { type InternWebhook, sealSigningSecret, WEBHOOK_EVENTS } from "../webhook.ts"

const tags = ["Interns"]

const Webhook = z
  .object({
    url: z.string().meta({ description: "Credentials in it are masked. A webhook set with this URL keeps them." }),
    backlog: z.int().meta({ description: "Events that the receiver has not accepted yet." }),
    last_error: z.string().nullable(),
    last_error_at: z.iso.datetime().nullable(),
    last_success_at: z.iso.datetime().nullable(),
  })
  .meta({ id: "InternWebhook" })

const set = createRoute({
  method: "put",
  path: "/interns/{internId}/webhook",
  operationId: "setInternWebhook",
  tags,
  summary: "Set the webhook of an intern",
  description:
    `Receives opened and closed questions, and ended turns. ${CONTROL_RIGHTS} Events: ${WEBHOOK_EVENTS.join(", ")}; JSON with \`type\`, \`timestamp\` and \`data\`, signed according to Standard ` +
    "Webhooks, delivered in order and at least once, retried for 24 hours. Each call creates a new signing secret.",
  middleware: [...controlGuards, acceptJson(MAX_INTERN_BODY_BYTES)] as const,
  request: {
    params: internParams,
    body: jsonBody(z.strictObject({ url: z.url().max(2_048) }).meta({ id: "NewInternWebhook" })),
  },
  responses: {
    200: ok(z.object({ url: z.string(), signing_secret: z.string().meta({ description: "Shown once." }) })),
    ...CONTROL_FAILURES,
    ...failures("payload_too_large", "unsupported_media_type"),
  },
})

const get = createRoute({
  method: "get",
  path: "/interns/{internId}/webhook",
  operationId: "getInternWebhook",
  tags,
  summary: "Get the webhook of an intern",
  description: `Includes the state of its deliveries. ${CONTROL_RIGHTS}`,
  middleware: [...controlGuards] as const,
  request: { params: internParams },
  responses: { 200: ok(Webhook), ...CONTROL_FAILURES },
})

const remove = createRoute({
  method: "delete",
  path: "/interns/{internId}/webhook",
  operationId: "deleteInternWebhook",
  tags,
  summary: "Delete the webhook of an intern",
  description: `Also deletes pending events. ${CONTROL_RIGHTS}`,
  middleware: [...controlGuards] as const,
  request: { params: internParams },
  responses: { 200: ok(z.object({ deleted: z.literal(true) })), ...CONTROL_FAILURES },
})

export const internWebhooks = newRouter()
  .openapi(set, async (c) => {
    const row = await controlledIntern(c, c.req.valid("param").internId)
    const { url: sent } = c.req.valid("json")
    const url = keptUrl(sent, (await openIntern(c.env, row.id).webhook())?.url)
    requireUnmaskedUrl("url", url)
    const fault = outboundRejection(new URL(url), hostsIn(c.env, "PRIVATE_HOSTS"))
    if (fault !== undefined) throw internError("invalid_body", `url: ${fault}. Give a public https URL.`)
    const secret = newSigningSecret()
    const entry = entryOf(c, { action: "intern.webhook_set", resourceId: row.id, workspaceId: row.workspaceId })
    const dataKeyEntry = { ...entry, id: newId(), action: "data_key.create" }
    const sealedSecret = await sealSigningSecret(c.env, row, secret, dataKeyEntry)
    if (sealedSecret === undefined) throw internError("not_found", "The workspace of this intern was deleted.")
    await openIntern(c.env, row.id).setWebhook(identityOf(c, row), { url, sealedSecret })
    await insertAudit(c.env.DB, entry)
    return c.json({ url: maskUrl(url), signing_secret: secret }, 200, { "cache-control": "no-store" })
  })
  .openapi(get, async (c) => {
    const { id } = await controlledIntern(c, c.req.valid("param").internId)
    const webhook = await openIntern(c.env, id).webhook()
    if (!webhook) throw noWebhook()
    return c.json(toWebhook(webhook), 200)
  })
  .openapi(remove, async (c) => {
    const row = await controlledIntern(c, c.req.valid("param").internId)
    const intern = openIntern(c.env, row.id)
    if (!(await intern.webhook())) throw noWebhook()
    await intern.setWebhook(identityOf(c, row), null)
    await auditIntern(c, row, "intern.webhook_delete")
    return c.json({ deleted: true } as const, 200)
  })

function toWebhook({ url, backlog, lastError, lastErrorAt, lastSuccessAt }: InternWebhook): z.infer<typeof Webhook> {
  const instant = (at: number | null) => (at === null ? null : toTimestamp(at))
  return {
    url: maskUrl(url),
    backlog,
    last_error: lastError,
    last_error_at: instant(lastErrorAt),
    last_success_at: instant(lastSuccessAt),
  }
}

function noWebhook() {
  return internError("not_found", "This intern has no webhook.")
}
