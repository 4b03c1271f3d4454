import { createRoute } from "@hono/zod-openapi"
import * as z from "zod"
import { entryOf } from "../audit/actor.ts"
import { requireOperator, requireManagement } from "../access/guards.ts"
import { insertAudit } from "../audit/store.ts"
import { GatewayError } from "../errors/errors.ts"
import { acceptJson, newRouter } from "../http/router.ts"
import { failures, jsonBody, ok } from "../http/schema.ts"
import { organizationExists } from "./store.ts"
import { isNanoPrecise, NANO_PRECISE, nanoToUsd, usdToNano } from "../money/money.ts"
import type { Balance } from "../ledger/protocol.ts"
import { openLedger } from "../ledger/client.ts"

const tags = ["Credits"]

const Credits = z
  .object({
    total_credits: z.number().meta({ description: "USD ever credited" }),
    total_usage: z.number().meta({ description: "USD ever charged" }),
  })
  .meta({ id: "Credits" })

const get = createRoute({
  method: "get",
  path: "/credits",
  operationId: "getCredits",
  summary: "Get the balance",
  tags,
  middleware: [requireManagement] as const,
  responses: { 200: ok(z.object({ data: Credits })), ...failures("unauthenticated", "forbidden", "internal") },
})

const MAX_USD = 1_000_000

const NewCredit = z
  .strictObject({
    amount_usd: z
      .number({ error: "must be a number of USD" })
      .min(-MAX_USD, `must be from -${MAX_USD} to ${MAX_USD}`)
      .max(MAX_USD, `must be from -${MAX_USD} to ${MAX_USD}`)
      .refine(isNanoPrecise, NANO_PRECISE)
      .meta({ description: "USD to add; negative to subtract" }),
    id: z
      .string({ error: "is required: your id for this credit, which is applied once per id" })
      .regex(/^[\w.:-]{1,128}$/, "must be 1 to 128 letters, digits and . : _ -"),
    organization_id: z
      .uuid({ error: "must be the UUID of an organization" })
      .toLowerCase()
      .optional()
      .meta({ description: "If omitted, the first organization" }),
  })
  .meta({ id: "NewCredit" })

const add = createRoute({
  method: "post",
  path: "/credits",
  operationId: "addCredits",
  tags,
  summary: "Add credits",
  description:
    "Applied once per id; 409 if the id has another amount. They count from the next call on. For the deployment's bootstrap management key only.",
  middleware: [requireOperator, acceptJson(65_536)] as const,
  request: { body: jsonBody(NewCredit) },
  responses: {
    200: ok(z.object({ data: Credits }), "What the organization has now."),
    ...failures("invalid_request", "unauthenticated", "forbidden", "not_found", "conflict", "internal"),
  },
})

export const credits = newRouter()
  .openapi(get, async (c) => {
    return c.json({ data: toCredits(await openLedger(c.env, c.var.principal.organizationId).balance()) }, 200)
  })
  .openapi(add, async (c) => {
    const {
      id,
      amount_usd: amount,
      organization_id: organizationId = c.var.principal.organizationId,
    } = c.req.valid("json")
    if (!(await organizationExists(c.env.DB, organizationId))) {
      throw new GatewayError("not_found", "There is no organization with this organization_id.")
    }
    const changed = { fields: ["amount_usd"], values: { amount_usd: amount } }
    const entry = entryOf(c, { action: "credit.create", resourceId: id, workspaceId: null, changed })
    // The audit entry is written first: a credit must never exist without one.
    await insertAudit(c.env.DB, { ...entry, organizationId })
    const result = await openLedger(c.env, organizationId).credit(`added:${id}`, usdToNano(amount))
    const { ok: fits, isOtherAmount, balance } = result
    if (isOtherAmount) throw new GatewayError("conflict", "id: a credit with this id has another amount. Use a new id.")
    if (!fits) throw new GatewayError("invalid_request", "amount_usd: would exceed the maximum balance of 9000000 USD.")
    return c.json({ data: toCredits(balance) }, 200)
  })

function toCredits({ creditedNano, spentNano }: Balance): z.infer<typeof Credits> {
  return { total_credits: nanoToUsd(creditedNano), total_usage: nanoToUsd(spentNano) }
}

const vendor = createRoute({
  method: "post",
  path: "/credits/vendor",
  operationId: "chargeVendorCredits",
  summary: "Charge credits (removed)",
  description: "Credits are added by an operator.",
  tags,
  deprecated: true,
  security: [],
  responses: failures("gone"),
})

export const removedCredits = newRouter().openapi(vendor, () => {
  throw new GatewayError("gone", "The charge endpoint is removed. Use the web purchase flow.")
})
