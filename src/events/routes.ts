import { createRoute } from "@hono/zod-openapi"
import * as z from "zod"
import { type Principal, resourceScopeOf } from "../access/principal.ts"
import { scopeOf } from "../calls/routes.ts"
import { regionOf } from "../http/request/region.ts"
import { newRouter } from "../http/router.ts"
import { failures, ok } from "../http/schema.ts"
import { listOpenQuestions, type QuestionScope } from "../interns/questions-store.ts"
import { principalByHash } from "../policy/authenticate.ts"
import { logError } from "../support/log.ts"
import { realTimer } from "../support/time/time.ts"
import { readFeed, type ServerEvent, toQuestion } from "./feed.ts"

const OpenQuestion = z
  .object({
    id: z.string().meta({ description: "The `tool_call_id` of an answer." }),
    intern: z.object({ id: z.string(), name: z.string() }),
    workspace_id: z.string(),
    session_id: z.string(),
    created_at: z.iso.datetime(),
    deadline: z.iso.datetime().meta({ description: "Then the run is cancelled." }),
    question: z.record(z.string(), z.unknown()).meta({
      description:
        "As in the chat stream: `kind` `permission` with `operation` and `options`, or `elicitation` with `message` and `fields`. A permission has, as far as the agent reports it, the exact `command`, its `folder` and `diffs` of files.",
    }),
  })
  .meta({ id: "OpenInternQuestion" })

const questions = createRoute({
  method: "get",
  path: "/questions",
  operationId: "listOpenInternQuestions",
  tags: ["Interns"],
  summary: "List open questions of interns",
  description:
    "The most urgent first. A management key lists those of its organization, any other key those of its workspace, an intern's own key its own. At most 100.",
  responses: {
    200: ok(z.object({ data: z.array(OpenQuestion) })),
    ...failures("unauthenticated", "forbidden", "internal"),
  },
})

const events = createRoute({
  method: "get",
  path: "/events",
  operationId: "streamEvents",
  tags: ["Calls"],
  summary: "Stream events",
  description:
    "New calls and open questions, as server-sent events. Event `call` has a call as GET /calls lists it, `question` an open question with `state` `open` or `closed`, `ping` keeps the connection alive. On a regional hostname there are no questions. A management key receives those of its organization, any other key its own calls and the questions of its workspace. The connection ends after 5 minutes; reconnect with `Last-Event-ID`, which resumes within 10 minutes. A connection repeats the calls of the 5 seconds before it; they have the same id.",
  request: {
    headers: z.object({
      "last-event-id": z
        .string()
        .max(128, "must be the id of an event")
        .optional()
        .meta({ description: "Id of the last event that was received: newer calls follow." }),
    }),
  },
  responses: {
    200: { description: "The events.", content: { "text/event-stream": { schema: z.string() } } },
    ...failures("invalid_request", "unauthenticated", "internal"),
  },
})

/** Null if the key has no interns. */
function questionScopeOf(principal: Principal): QuestionScope | null {
  const { kind, hasInternsAccess } = principal
  if (!hasInternsAccess) return null
  const scope = resourceScopeOf(principal)
  return kind === "management" ? { ...scope, workspaceId: null } : scope
}

export const serverEvents = newRouter()
  .openapi(questions, async (c) => {
    const scope = questionScopeOf(c.var.principal)
    const open = scope ? await listOpenQuestions(c.env.DB, scope, Date.now()) : []
    return c.json({ data: open.map(toQuestion) }, 200)
  })
  .openapi(events, (c) => {
    const { principal, requestId } = c.var
    const abort = new AbortController()
    const feed = readFeed({
      db: c.env.DB,
      calls: scopeOf(principal),
      // Interns are not served on a regional hostname.
      questions: regionOf(c.req.raw, c.env) === null ? questionScopeOf(principal) : null,
      lastEventId: c.req.header("last-event-id") ?? null,
      isAllowed: async () => (await principalByHash(principal.keyHash, c.env, Date.now())) !== undefined,
      signal: AbortSignal.any([c.req.raw.signal, abort.signal]),
      timer: realTimer,
      now: Date.now,
    })
    const headers = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store" }
    return c.body(toStream(feed, requestId, abort), 200, headers)
  })

const RETRY_MS = 1_000

function toStream(feed: AsyncGenerator<ServerEvent>, requestId: string, abort: AbortController): ReadableStream {
  const encoder = new TextEncoder()
  return new ReadableStream({
    start: (controller) => controller.enqueue(encoder.encode(`retry: ${RETRY_MS}\n\n`)),
    async pull(controller) {
      try {
        const { done, value } = await feed.next()
        if (done) controller.close()
        else controller.enqueue(encoder.encode(toFrame(value)))
      } catch (cause) {
        logError("event stream failed", { requestId }, cause)
        controller.close()
      }
    },
    cancel: () => abort.abort(),
  })
}

function toFrame({ event, id, data }: ServerEvent): string {
  return `event: ${event}\n${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`
}
