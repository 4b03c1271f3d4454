import { createRoute } from "@hono/zod-openapi"
import * as z from "zod"
import { requireManagement } from "../access/caller.ts"
import { GatewayError } from "../edge/errors.ts"
import { newRouter } from "../edge/router.ts"
import { failures, ok } from "../edge/schema.ts"
import { nanoToUsd } from "./money.ts"
import { openLedger } from "./ledger-client.ts"

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
  tags,
  middleware: [requireManagement] as const,
  responses: { 200: ok(z.object({ data: Credits })), ...failures("unauthenticated", "forbidden", "internal") },
})

export const credits = newRouter().openapi(get, async (c) => {
  const { creditedNano, spentNano } = await openLedger(c.env, c.var.caller.organizationId).balance()
  return c.json({ data: { total_credits: nanoToUsd(creditedNano), total_usage: nanoToUsd(spentNano) } }, 200)
})

const vendor = createRoute({
  method: "post",
  path: "/credits/vendor",
  operationId: "chargeVendorCredits",
  tags,
  deprecated: true,
  responses: failures("gone"),
})

export const removedCredits = newRouter().openapi(vendor, () => {
  throw new GatewayError("gone", "The charge endpoint is removed. Use the web purchase flow.")
})
