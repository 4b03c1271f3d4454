import { createRoute } from "@hono/zod-openapi"
import * as z from "zod"
import { entryOf } from "../audit/actor.ts"
import { isConfined, type Principal } from "../access/principal.ts"
import { requireManagement } from "../access/guards.ts"
import { changesOf } from "../audit/entry.ts"
import { openLedger } from "../ledger/client.ts"
import { GatewayError } from "../errors/errors.ts"
import { acceptJson, newRouter } from "../http/router.ts"
import { failures, jsonBody, ok } from "../http/schema.ts"
import type { Env } from "../config/env.ts"
import { findContent, toGenerationContent } from "./content.ts"
import type { Generation } from "../ledger/generation.ts"
import { GenerationRecord, toGenerationRecord, GenerationContent } from "./schemas.ts"
import { wait } from "../support/time/time.ts"
import { newId } from "../support/ids.ts"
import { findGeneration, insertFeedback } from "./store.ts"

const generationId = z
  .string({ error: "is required: an X-Generation-Id, or the id of a completion" })
  .min(1)
  .max(256)
  .meta({ description: "`X-Generation-Id` of the response, or the `id` in its body." })

const get = createRoute({
  method: "get",
  path: "/generation",
  operationId: "getGeneration",
  tags: ["Generations"],
  summary: "Get a generation",
  description: "Usage and cost of a call.",
  request: {
    query: z.object({
      id: generationId,
    }),
  },
  responses: {
    200: ok(z.object({ data: GenerationRecord })),
    ...failures("invalid_request", "unauthenticated", "not_found", "internal"),
  },
})

const content = createRoute({
  method: "get",
  path: "/generation/content",
  operationId: "getGenerationContent",
  tags: ["Generations"],
  summary: "Get the content of a generation",
  description: "Of a call of this key, in workspaces with content logging. Management keys read all.",
  request: { query: z.object({ id: generationId }) },
  responses: {
    200: ok(z.object({ data: GenerationContent })),
    ...failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal"),
  },
})

const FRESH_MS = 60_000
const CONTENT_DELAY_MS = 300

const FEEDBACK = [
  "latency",
  "incoherence",
  "incorrect_response",
  "formatting",
  "billing",
  "api_error",
  "other",
] as const

const NewFeedback = z
  .strictObject({
    generation_id: z.string({ error: "is required: an X-Generation-Id, or the id of a completion" }).min(1).max(256),
    category: z.enum(FEEDBACK, { error: `accepts ${FEEDBACK.join(", ")}` }),
    comment: z.string({ error: "must be a string" }).max(4_000, "must be at most 4000 characters").optional(),
  })
  .meta({ id: "GenerationFeedback" })

const feedback = createRoute({
  method: "post",
  path: "/generation/feedback",
  operationId: "submitGenerationFeedback",
  tags: ["Generations"],
  summary: "Submit feedback on a generation",
  middleware: [requireManagement, acceptJson(65_536)] as const,
  request: { body: jsonBody(NewFeedback) },
  responses: {
    200: ok(z.object({ data: z.object({ success: z.literal(true) }) }), "Stored with the generation."),
    ...failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal"),
  },
})

export const generations = newRouter().openapi(get, async (c) => {
  const generation = await find(c.env, c.var.principal, c.req.valid("query").id)
  if (!generation) throw new GatewayError("not_found", "There is no generation with this id.")
  return c.json({ data: toGenerationRecord(generation) }, 200)
})

generations.openapi(content, async (c) => {
  const { principal } = c.var
  const generation = await find(c.env, principal, c.req.valid("query").id)
  if (!generation || !mayReadContent(principal, generation)) {
    throw new GatewayError("not_found", "There is no generation with this id.")
  }
  const readContent = () => findContent(c.env.FILES, principal.organizationId, generation)
  // The content is written shortly after the call is charged.
  const isFresh = Date.now() - generation.createdAt < FRESH_MS
  const stored = (await readContent()) ?? (isFresh ? await wait(CONTENT_DELAY_MS).then(readContent) : undefined)
  if (!stored) {
    throw new GatewayError(
      "not_found",
      "The content of this generation was not kept: its workspace had content logging off, or left this call out.",
    )
  }
  return c.json({ data: toGenerationContent(generation, stored) }, 200)
})

generations.openapi(feedback, async (c) => {
  const { generation_id: id, category, comment = null } = c.req.valid("json")
  const { principal } = c.var
  const generation = await find(c.env, principal, id)
  if (!generation) throw new GatewayError("not_found", "There is no generation with this id.")
  const { organizationId, keyHash } = principal
  const row = { id: newId(), organizationId, generationId: generation.id, category, comment, keyHash }
  const { workspaceId } = generation
  const changed = changesOf({ category, comment }, ["category"])
  const entry = entryOf(c, { action: "generation.feedback", resourceId: generation.id, workspaceId, changed })
  await insertFeedback(c.env.DB, { ...row, createdAt: Date.now() }, entry)
  return c.json({ data: { success: true as const } }, 200)
})

/**
 * A recent one is still in the ledger, an older one in the database. A management key sees all, a key that was created
 * for a person its workspace, and a key of an app, an intern, a workload or the free tier only its own.
 */
async function find(env: Env, principal: Principal, id: string): Promise<Generation | undefined> {
  if (!principal.organizationId) return undefined
  const fresh = await openLedger(env, principal.organizationId).generation(id)
  const generation = fresh ?? (await findGeneration(env.DB, principal.organizationId, id))
  if (principal.kind === "management" || generation?.keyHash === principal.keyHash) return generation
  const seesWorkspace = principal.source === "created" && !isConfined(principal)
  return seesWorkspace && generation?.workspaceId === principal.workspaceId ? generation : undefined
}

/** A key reads the prompts of its own calls, as in `GET /calls/{id}`; a management key reads all. */
function mayReadContent({ kind, keyHash }: Principal, generation: Generation): boolean {
  return kind === "management" || generation.keyHash === keyHash
}
