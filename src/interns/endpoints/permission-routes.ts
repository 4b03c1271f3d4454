import { createRoute } from "@hono/zod-openapi"
import * as z from "zod"
import { newRouter } from "../../http/router.ts"
import { ok } from "../../http/schema.ts"
import { CONTROL_FAILURES, CONTROL_RIGHTS, controlGuards, controlledIntern } from "../lifecycle/control.ts"
import { openIntern } from "../lifecycle/open-intern.ts"
import { noSession, sessionParams } from "./session-schemas.ts"

/** Answers with `allow_always` or `reject_always` in a session. */

const tags = ["Interns"]
const path = "/interns/{internId}/sessions/{sessionId}/permissions"

const InternPermission = z
  .object({
    operation: z.string().meta({
      description:
        "Of an embedded agent: the tool, `shell` or `server/tool`. Of an agent on a machine: the exact command, URL, files or tool.",
    }),
    decision: z.enum(["allow", "reject"]).meta({ description: "Answer to every such question." }),
  })
  .meta({ id: "InternPermission" })

const list = createRoute({
  method: "get",
  path,
  operationId: "listInternPermissions",
  tags,
  summary: "List the standing permissions of a session",
  description: `Answers with \`allow_always\` or \`reject_always\`, which apply to this session. ${CONTROL_RIGHTS}`,
  middleware: [...controlGuards] as const,
  request: { params: sessionParams },
  responses: { 200: ok(z.object({ data: z.array(InternPermission) })), ...CONTROL_FAILURES },
})

const revoke = createRoute({
  method: "delete",
  path,
  operationId: "revokeInternPermissions",
  tags,
  summary: "Revoke standing permissions of a session",
  description: `The next use needs permission again. ${CONTROL_RIGHTS}`,
  middleware: [...controlGuards] as const,
  request: {
    params: sessionParams,
    query: z.object({
      operation: z
        .string()
        .min(1)
        .max(8_192)
        .optional()
        .meta({ description: "Default: all permissions of the session." }),
    }),
  },
  responses: {
    200: ok(z.object({ revoked: z.int().meta({ description: "Number of permissions that were revoked." }) })),
    ...CONTROL_FAILURES,
  },
})

export const internPermissions = newRouter()
  .openapi(list, async (c) => {
    const { internId, sessionId } = c.req.valid("param")
    const { id } = await controlledIntern(c, internId)
    const data = await openIntern(c.env, id).permissions(sessionId)
    if (!data) throw noSession()
    return c.json({ data }, 200)
  })
  .openapi(revoke, async (c) => {
    const { internId, sessionId } = c.req.valid("param")
    const { id } = await controlledIntern(c, internId)
    const revoked = await openIntern(c.env, id).revokePermissions(sessionId, c.req.valid("query").operation ?? null)
    if (revoked === undefined) throw noSession()
    return c.json({ revoked }, 200)
  })
