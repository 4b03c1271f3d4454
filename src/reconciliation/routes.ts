import { createRoute } from "@hono/zod-openapi"
import * as z from "zod"
import { entryOf } from "../audit/actor.ts"
import { requireOperator, requireManagement } from "../access/guards.ts"
import { insertAudit } from "../audit/store.ts"
import { nanoToUsd } from "../money/money.ts"
import { GatewayError } from "../errors/errors.ts"
import { acceptJson, newRouter } from "../http/router.ts"
import { failures, jsonBody, ok, uuidParam } from "../http/schema.ts"
import { organizationExists } from "../organizations/store.ts"
import { toTimestamp } from "../support/time/time.ts"
import { reconcile, reconcileStalest } from "./reconcile.ts"
import type { Reconciliation as Found } from "../ledger/reporting/reconciliation.ts"
import { findReconciliation } from "./store.ts"

const tags = ["Credits"]

const Reconciliation = z
  .object({
    organization_id: z.string(),
    at: z.iso.datetime(),
    restored_generations: z
      .int()
      .meta({ description: "Generations that the database had lost and that were restored" }),
    drifts: z.array(
      z.object({
        scope: z.string().meta({
          description:
            "account, key:<hash>, workspace:<id>, provider:<slug>, guardrail:<id>:key:<hash>, guardrail:<id>:user:<id> or schedule:<id>",
        }),
        window: z.enum(["total", "monthly", "weekly", "daily"]),
        measure: z.enum(["spent", "byok"]),
        charged_usd: z.number().meta({ description: "By the ledger" }),
        recorded_usd: z.number().meta({ description: "The sum of the generations" }),
        repaired: z.boolean(),
      }),
    ),
    overruns: z
      .array(
        z.object({
          model: z.string(),
          provider: z.string(),
          calls: z.int(),
          overrun_usd: z.number(),
          last_at: z.iso.datetime(),
        }),
      )
      .meta({ description: "Usage of providers above the holds, in total: not charged. At most 100." }),
  })
  .meta({ id: "Reconciliation" })

const NewReconciliation = z
  .strictObject({
    organization_id: uuidParam("an organization").optional(),
    lower: z
      .boolean({ error: "must be true or false" })
      .default(false)
      .meta({ description: "Also lower counters that are above the sum of their generations." }),
  })
  .refine((input) => !input.lower || input.organization_id !== undefined, {
    path: ["lower"],
    error: "needs organization_id: counters are lowered for one organization at a time",
  })
  .meta({ id: "NewReconciliation" })

const last = createRoute({
  method: "get",
  path: "/reconciliations",
  operationId: "getReconciliation",
  tags,
  summary: "Get the last reconciliation",
  description: "Compares ledgers with their generations.",
  middleware: [requireManagement] as const,
  responses: {
    200: ok(z.object({ data: z.array(Reconciliation) }), "One, or none before the first."),
    ...failures("unauthenticated", "forbidden", "internal"),
  },
})

const run = createRoute({
  method: "post",
  path: "/reconciliations",
  operationId: "createReconciliation",
  tags,
  summary: "Reconcile ledgers",
  description:
    "With their generations, now; differences are repaired. For the deployment's bootstrap management key only. Without organization_id, up to 50 organizations: those whose last one is the longest ago. A counter below its generations is raised; one above them is reported.",
  middleware: [requireOperator, acceptJson(65_536)] as const,
  request: { body: jsonBody(NewReconciliation) },
  responses: {
    200: ok(z.object({ data: z.array(Reconciliation) })),
    ...failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal"),
  },
})

const ORGANIZATIONS_PER_CALL = 50

export const reconciliations = newRouter()
  .openapi(last, async (c) => {
    const found = await findReconciliation(c.env.DB, c.var.principal.organizationId)
    return c.json({ data: found ? [toReconciliation(found)] : [] }, 200)
  })
  .openapi(run, async (c) => {
    const { organization_id: organizationId, lower } = c.req.valid("json")
    if (organizationId === undefined) {
      const found = await reconcileStalest(c.env, ORGANIZATIONS_PER_CALL)
      return c.json({ data: found.map(toReconciliation) }, 200)
    }
    if (!(await organizationExists(c.env.DB, organizationId))) {
      throw new GatewayError("not_found", "There is no organization with this organization_id.")
    }
    const changed = { fields: ["lower"], values: { lower } }
    const event = { action: "ledger.reconcile", resourceId: organizationId, workspaceId: null, changed } as const
    await insertAudit(c.env.DB, { ...entryOf(c, event), organizationId })
    return c.json({ data: [toReconciliation(await reconcile(c.env, organizationId, lower))] }, 200)
  })

function toReconciliation({
  organizationId,
  at,
  restored,
  drifts,
  overruns = [],
}: Found): z.infer<typeof Reconciliation> {
  return {
    organization_id: organizationId,
    at: toTimestamp(at),
    restored_generations: restored,
    drifts: drifts.map(({ scope, window, measure, chargedNano, recordedNano, isRepaired }) => ({
      scope,
      window,
      measure,
      charged_usd: nanoToUsd(chargedNano),
      recorded_usd: nanoToUsd(recordedNano),
      repaired: isRepaired,
    })),
    overruns: overruns.map(({ model, provider, calls, overrunNano, lastAt }) => ({
      model,
      provider,
      calls,
      overrun_usd: nanoToUsd(overrunNano),
      last_at: toTimestamp(lastAt),
    })),
  }
}
