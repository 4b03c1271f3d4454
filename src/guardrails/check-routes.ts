import { createRoute } from "@hono/zod-openapi"
import * as z from "zod"
import { requireManagement } from "../access/guards.ts"
import { newRouter } from "../http/router.ts"
import { failures, ok } from "../http/schema.ts"
import { CHECK_FORMATS } from "./checks/check.ts"
import { contentChecksOf } from "./checks/settings.ts"

const ContentCheckList = z
  .object({
    data: z.array(
      z.object({
        name: z.string().meta({ description: "For `check` of a rule in `content_checks`." }),
        format: z.enum(CHECK_FORMATS).meta({ description: "API that the service has." }),
        timeout_ms: z.int().meta({ description: "Milliseconds after which the check counts as unavailable." }),
        if_unavailable: z
          .enum(["block", "allow"])
          .meta({ description: "What happens to a text that it cannot judge." }),
      }),
    ),
  })
  .meta({ id: "ContentCheckList" })

const list = createRoute({
  tags: ["Guardrails"],
  middleware: [requireManagement] satisfies [typeof requireManagement],
  method: "get",
  path: "/guardrails/checks",
  operationId: "listContentChecks",
  summary: "List external checks",
  description: "Services of the operator that guardrails may name to judge texts.",
  responses: {
    200: ok(ContentCheckList, "The checks."),
    ...failures("unauthenticated", "forbidden", "internal"),
  },
})

export const contentChecks = newRouter().openapi(list, (c) => {
  const checks = [...contentChecksOf(c.env).values()]
  const data = checks.map(({ name, format, timeout_ms, if_unavailable }) => ({
    name,
    format,
    timeout_ms,
    if_unavailable,
  }))
  return c.json({ data }, 200)
})
