import { createRoute } from "@hono/zod-openapi"
import * as z from "zod"
import { requireKnownWorkspaces } from "../access/known-store.ts"
import type { Principal } from "../access/principal.ts"
import type { Env } from "../config/env.ts"
import { GatewayError } from "../errors/errors.ts"
import { findContent, toGenerationContent } from "../generations/content.ts"
import { findGeneration } from "../generations/store.ts"
import { newRouter } from "../http/router.ts"
import { failures, ok } from "../http/schema.ts"
import { openLedger } from "../ledger/client.ts"
import type { Generation } from "../ledger/generation.ts"
import { REJECTED_PREFIX, toCall } from "./call.ts"
import { toCursor, toSearch } from "./query.ts"
import { findRejectedCall } from "./rejected-store.ts"
import { CallList, CallsQuery, CallStory } from "./schemas.ts"
import { type CallScope, findKeyNames, findNames, searchCalls } from "./store.ts"
import { arithmeticOf, heldOf, limitIdsOf, timesOf, tokensByKind, trailOf } from "./story.ts"

const tags = ["Calls"]

const list = createRoute({
  method: "get",
  path: "/calls",
  operationId: "listCalls",
  tags,
  summary: "List calls",
  description:
    "Newest first, with those that failed or were refused. A management key lists the calls of its organization, any other key its own. Filters that no index answers read at most 20,000 calls a page: a page may then be short and still have a `next_cursor`. Calls appear within a second after they end. Of a key that is refused often, 60 refused calls a minute are recorded.",
  request: { query: CallsQuery },
  responses: { 200: ok(CallList), ...failures("invalid_request", "unauthenticated", "not_found", "internal") },
})

const get = createRoute({
  method: "get",
  path: "/calls/{id}",
  operationId: "getCall",
  tags,
  summary: "Get a call",
  description:
    "Everything that is known about it. Attempts, guardrails that found something, tokens by kind, the cost line by line, the limits that it was held against, times, other calls of its session, and the content where the workspace logs it.",
  request: {
    params: z.object({
      id: z
        .string()
        .min(1)
        .max(256, "must be at most 256 characters")
        .meta({ description: "Id of the call, as GET /calls lists it, or the provider's id of its response." }),
    }),
  },
  responses: {
    200: ok(z.object({ data: CallStory })),
    ...failures("invalid_request", "unauthenticated", "not_found", "internal"),
  },
})

/** A management key sees its organization, any other key its own calls. */
export function scopeOf({ kind, organizationId, keyHash }: Principal): CallScope {
  return { organizationId, keyHash: kind === "management" ? null : keyHash }
}

export const calls = newRouter()
  .openapi(list, async (c) => {
    const query = c.req.valid("query")
    const search = toSearch(query, Date.now())
    const { principal } = c.var
    const { included = [], excluded = [] } = search.filters.get("workspace") ?? {}
    const visibleId = principal.kind === "management" ? null : principal.workspaceId
    const { organizationId } = principal
    await requireKnownWorkspaces(c.env.DB, { organizationId, visibleId }, [...included, ...excluded])
    const { calls: found, cut } = await searchCalls(c.env.DB, scopeOf(principal), search)
    const page = found.slice(0, search.limit)
    const isFull = found.length > search.limit
    const last = page.at(-1)
    const lastRead = search.sort === "time" && cut ? { value: cut.at, id: cut.id } : undefined
    const end = isFull && last ? { value: last.value, id: last.generation.id } : lastRead
    return c.json(
      {
        data: page.map(toCall),
        has_more: end !== undefined,
        next_cursor: end ? toCursor({ ...end, to: search.to }, query) : null,
        truncated: search.sort !== "time" && cut !== undefined,
      },
      200,
    )
  })
  .openapi(get, async (c) => {
    const { principal } = c.var
    const scope = scopeOf(principal)
    const generation = await find(c.env, scope, c.req.valid("param").id)
    if (!generation) throw new GatewayError("not_found", "There is no call with this id that this key can see.")
    const { organizationId, sessionId, keyHash, id } = generation
    const [keyNames, names, content, session] = await Promise.all([
      findKeyNames(c.env.DB, organizationId, keyHash),
      findNames(c.env.DB, organizationId, limitIdsOf(generation)),
      findContent(c.env.FILES, organizationId, generation),
      sessionId === null ? [] : sessionCalls(c.env.DB, scope, sessionId),
    ])
    const at = "settledAt" in generation ? Number(generation.settledAt) : generation.createdAt
    const { upstreamId, tokensFrom, serviceTier, isByok, guardrails = [] } = generation
    return c.json(
      {
        data: {
          ...toCall({ generation, at, ...keyNames }),
          endpoint: {
            upstream_id: upstreamId,
            tokens_from: tokensFrom,
            service_tier: serviceTier,
            is_byok: isByok,
          },
          trail: trailOf(generation),
          guardrails: guardrails.map((finding) => ({ ...finding, patterns: [...finding.patterns] })),
          tokens_by_kind: tokensByKind(generation),
          arithmetic: arithmeticOf(generation),
          held: heldOf(generation, names),
          times: timesOf(generation, at),
          session: session.filter((call) => call.id !== id),
          content: content ? toGenerationContent(generation, content) : null,
        },
      },
      200,
    )
  })

/** Up to 50 other calls of the session. */
async function sessionCalls(db: D1Database, scope: CallScope, sessionId: string) {
  const filters = new Map([["session_id", { included: [sessionId], excluded: [] }]] as const)
  const search = { ...toSearch(CallsQuery.parse({ limit: "51" }), Date.now()), filters }
  return (await searchCalls(db, scope, search)).calls.slice(0, 51).map(toCall)
}

/** A recent call is still in the ledger, an older one in the database. */
async function find(env: Env, scope: CallScope, id: string): Promise<Generation | undefined> {
  const { organizationId, keyHash } = scope
  if (organizationId === "") return undefined
  const found = id.startsWith(REJECTED_PREFIX)
    ? await findRejectedCall(env.DB, organizationId, id)
    : ((await openLedger(env, organizationId).generation(id)) ?? (await findGeneration(env.DB, organizationId, id)))
  return keyHash === null || found?.keyHash === keyHash ? found : undefined
}
