import { createRoute } from "@hono/zod-openapi"
import type { Context } from "hono"
import * as z from "zod"
import { originOf } from "../../audit/actor.ts"
import { GatewayError } from "../../errors/errors.ts"
import { newRouter } from "../../http/router.ts"
import { failures, ok } from "../../http/schema.ts"
import type { App } from "../../access/app.ts"
import { joinTokenInternAnd } from "../access/join-token.ts"
import { internError } from "../lifecycle/reasons.ts"
import type { InternRow } from "../table.ts"
import {
  decodeRequest,
  EGRESS_REQUEST_HEADER,
  EGRESS_RESPONSE_HEADER,
  encodeEnvelope,
  MAX_ENVELOPE_LENGTH,
} from "../../vault/egress-envelope.ts"
import { egressToBound, type EgressResult } from "../../vault/egress-fetch.ts"
import { egressDepsOf } from "../../vault/egress-deps.ts"
import { openSecrets } from "../../vault/release.ts"
import { DaemonSecrets } from "../../vault/schemas.ts"
import { internSecretsStatement, type SealedSecret, toSealedSecret } from "../../vault/store.ts"

// An id that is not a UUID gets the same response as a wrong token.
const params = z.object({ internId: z.string().max(64) })
const security = [{ joinToken: [] }]
const COMMON = ["invalid_request", "unauthenticated", "forbidden", "conflict", "rate_limited", "internal"] as const

const read = createRoute({
  method: "get",
  path: "/interns/{internId}/daemon/secrets",
  operationId: "readDaemonSecrets",
  tags: ["Interns"],
  summary: "List the secrets of an intern's agent",
  description:
    "Names, hosts and placeholders; never a value. For the daemon, with its join token. API keys are not accepted.",
  security,
  request: { params },
  responses: { 200: ok(DaemonSecrets), ...failures(...COMMON) },
})

const egress = createRoute({
  method: "post",
  path: "/interns/{internId}/daemon/egress",
  operationId: "sendDaemonEgress",
  tags: ["Interns"],
  summary: "Send a request to a host of a secret",
  description:
    "For an intern's agent. The response is streamed back. For the daemon, with its join token. Placeholders in headers are replaced by values, only for the hosts of each " +
    "secret, over https on port 443; values in the response are replaced by placeholders. Redirects are not followed.",
  security,
  request: {
    params,
    headers: z.object({
      [EGRESS_REQUEST_HEADER]: z
        .string()
        .optional()
        .meta({ description: "Required. JSON in base64url: `method`, `url`, `headers` (pairs), `hasBody`." }),
    }),
    body: {
      content: { "application/octet-stream": { schema: z.unknown() } },
      required: false,
      description: "The unchanged body of that request.",
    },
  },
  responses: {
    200: {
      description: `The body of the response. Its status and headers are in ${EGRESS_RESPONSE_HEADER}: JSON in base64url.`,
      content: { "application/octet-stream": { schema: z.unknown() } },
    },
    ...failures(...COMMON, "provider_failed"),
  },
})

/** Accepts join tokens, not API keys. */
export const daemonSecrets = newRouter()
  .openapi(read, async (c) => {
    const { status, secrets } = await activeIntern(c, c.req.valid("param").internId)
    const released = await openSecrets(c.env, secrets)
    const data = released.map(({ name, hosts, placeholder }) => ({ name, hosts, placeholder }))
    return c.json({ status, data }, 200, { "cache-control": "no-store" })
  })
  .openapi(egress, async (c) => {
    const { intern, secrets } = await activeIntern(c, c.req.valid("param").internId)
    const egressRequest = decodeRequest(c.req.header(EGRESS_REQUEST_HEADER) ?? "")
    if (!egressRequest)
      throw internError("invalid_body", `${EGRESS_REQUEST_HEADER}: must be a request as JSON in base64url.`)
    const { body, signal } = c.req.raw
    const deps = egressDepsOf(c.env, {
      intern: { id: intern.id, workspaceId: intern.workspaceId },
      actor: {
        organizationId: intern.organizationId,
        keyHash: intern.joinTokenHash ?? "",
        label: `daemon of ${intern.name}`,
        creatorUserId: null,
        ...originOf(c),
      },
      secrets: () => openSecrets(c.env, secrets),
      signal,
      waitUntil: (work) => c.executionCtx.waitUntil(work),
    })
    const { hasBody, ...request } = egressRequest
    return toResponse(await egressToBound({ ...request, ...(hasBody && { body: body ?? "" }) }, deps))
  })

type Active = { intern: InternRow; status: "running" | "provisioning"; secrets: readonly SealedSecret[] }

/** Uses one round trip to D1, because every request needs it. */
async function activeIntern(c: Context<App>, id: string): Promise<Active> {
  const secrets = internSecretsStatement(c.env.DB, id)
  const { intern, others } = await joinTokenInternAnd(c, id, [secrets])
  const sealed = others.flatMap(({ results }) => results.map(toSealedSecret))
  const { status } = intern
  if (status === "running" || status === "provisioning") return { intern, status, secrets: sealed }
  throw internError("intern_not_running", "The intern is not running: its daemon may not use its secrets.")
}

const REASONS = { refused: "egress_refused", unbound: "host_not_bound", misdirected: "egress_refused" } as const

function toResponse(sent: EgressResult): Response {
  if (!sent.ok) {
    const { reason, why } = sent
    if (why === "failed") throw new GatewayError("provider_failed", reason, { metadata: { reason: "host_failed" } })
    throw new GatewayError("forbidden", reason, { metadata: { reason: REASONS[why], retryable: false } })
  }
  const { status, headers, body, hidden } = sent.response
  const envelope = encodeEnvelope({ status, headers })
  if (envelope.length > MAX_ENVELOPE_LENGTH) {
    void body?.cancel()
    throw new GatewayError("provider_failed", "The headers of the response are too large.", {
      metadata: { reason: "host_failed" },
    })
  }
  return new Response(body?.pipeThrough(hidden.stream()) ?? null, {
    headers: {
      "content-type": "application/octet-stream",
      // No proxy may compress the stream: it would buffer events.
      "cache-control": "no-store, no-transform",
      [EGRESS_RESPONSE_HEADER]: envelope,
    },
  })
}
