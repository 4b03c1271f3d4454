import { createRoute } from "@hono/zod-openapi"
import * as z from "zod"
import { originOf } from "../access/actor.ts"
import { newEntry } from "../audit/entry.ts"
import { insertAudit } from "../audit/store.ts"
import { newRouter } from "../edge/router.ts"
import { failures, ok } from "../edge/schema.ts"
import { joinTokenIntern } from "../interns/join-token.ts"
import { internError } from "../interns/reasons.ts"
import { releaseSecrets } from "./release.ts"
import { ReleasedSecrets } from "./schemas.ts"

const read = createRoute({
  method: "get",
  path: "/interns/{internId}/daemon/secrets",
  operationId: "readDaemonSecrets",
  tags: ["Interns"],
  summary: "The secrets that an intern's daemon puts into requests to their hosts, in clear.",
  description: "For the daemon, with its join token. No API key reads them, an intern's own key neither.",
  security: [{ joinToken: [] }],
  // What is no UUID is no intern's id, and gets the same answer as a wrong token.
  request: { params: z.object({ internId: z.string().max(64) }) },
  responses: {
    200: ok(ReleasedSecrets, "The secrets. Never stored by anything on the way."),
    ...failures("invalid_request", "unauthenticated", "forbidden", "conflict", "rate_limited", "internal"),
  },
})

/** Answers join tokens, not API keys. */
export const daemonSecrets = newRouter().openapi(read, async (c) => {
  const intern = await joinTokenIntern(c, c.req.valid("param").internId)
  const { status } = intern
  if (status !== "running" && status !== "provisioning") {
    throw internError("intern_not_running", "The intern is not running: its daemon is given no secrets.")
  }
  const data = await releaseSecrets(c.env, intern)
  const names = data.map(({ name }) => name)
  const daemon = {
    organizationId: intern.organization_id,
    keyHash: intern.join_token_hash ?? "",
    label: `daemon of ${intern.name}`,
    creatorUserId: null,
    ...originOf(c.req.raw, c.var.requestId),
  }
  const changed = { fields: ["names"], values: { names } }
  const deed = { action: "vault_secret.release", resourceId: intern.id, workspaceId: intern.workspace_id } as const
  await insertAudit(c.env.DB, newEntry(daemon, { ...deed, changed }))
  return c.json({ status, data }, 200, { "cache-control": "no-store" })
})
