import { createRoute } from "@hono/zod-openapi"
import * as z from "zod"
import { requireProvisioning } from "../access/guards.ts"
import type { Principal } from "../access/principal.ts"
import type { Env } from "../config/env.ts"
import { GatewayError } from "../errors/errors.ts"
import { newRouter } from "../http/router.ts"
import { failures, ok } from "../http/schema.ts"
import { openLedger } from "../ledger/client.ts"
import { callerFor, callerOf, callerWithMetadataValue } from "../policy/call-policy.ts"
import { loadAccess } from "../policy/store.ts"
import { limitsInForce } from "./limits-in-force.ts"
import { LimitsInForce } from "./limit-schemas.ts"

const tags = ["API keys"]
const description =
  "The balance, the limits of the key and of the keys that created it, budgets of its workspace and guardrails with a budget. Exact at the moment of the request: `left` is `limit` - `spent` - `held`."

const SubjectQuery = z.object({
  user: z
    .string()
    .max(256, "must be at most 256 characters")
    .optional()
    .meta({ description: "End user for guardrails with `per_end_user`. Absent: requests that name none." }),
  metadata_value: z.string().max(512, "must be at most 512 characters").optional().meta({
    description: "Value of the metadata field for guardrails with `per_metadata`. Absent: requests without the field.",
  }),
})

const ofCurrentKey = createRoute({
  method: "get",
  path: "/key/limits",
  operationId: "getCurrentKeyLimits",
  tags,
  summary: "List the limits of this key",
  description,
  request: { query: SubjectQuery },
  responses: { 200: ok(LimitsInForce), ...failures("invalid_request", "unauthenticated", "internal") },
})

const ofKey = createRoute({
  method: "get",
  path: "/keys/{hash}/limits",
  operationId: "getApiKeyLimits",
  tags,
  summary: "List the limits of a key",
  description,
  middleware: [requireProvisioning] as const,
  request: {
    query: SubjectQuery,
    params: z.object({ hash: z.string().regex(/^[0-9a-f]{64}$/, "must be 64 hex digits, as GET /keys lists them") }),
  },
  responses: {
    200: ok(LimitsInForce),
    ...failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal"),
  },
})

export const keyLimits = newRouter()
  .openapi(ofCurrentKey, async (c) =>
    c.json({ data: await limitsFor(c.env, c.var.principal, c.req.valid("query")) }, 200),
  )
  .openapi(ofKey, async (c) => {
    const { organizationId } = c.var.principal
    const key = await loadAccess(c.env.DB, c.req.valid("param").hash, { includesRevoked: true })
    if (key?.organizationId !== organizationId) throw new GatewayError("not_found", "There is no key with this hash.")
    return c.json({ data: await limitsFor(c.env, key, c.req.valid("query")) }, 200)
  })

async function limitsFor(env: Env, principal: Principal, subject: z.infer<typeof SubjectQuery>) {
  const { organizationId } = principal
  if (organizationId === "") return []
  const counted = callerWithMetadataValue(callerOf(principal), subject.metadata_value ?? "")
  return limitsInForce(env.DB, openLedger(env, organizationId), callerFor(counted, subject.user ?? null))
}
