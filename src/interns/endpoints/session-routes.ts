import { createRoute } from "@hono/zod-openapi"
import * as z from "zod"
import { acceptJson, newRouter } from "../../http/router.ts"
import { failures, json, jsonBody, ok, queryIntegerOr } from "../../http/schema.ts"
import { requireWorkingKey } from "../access/access.ts"
import { InternSteered } from "./chat-schemas.ts"
import { CONTROL_FAILURES, CONTROL_RIGHTS, controlGuards, controlledIntern } from "../lifecycle/control.ts"
import { readSessionCursor, toSessionCursor } from "../cursor.ts"
import { MAX_INTERN_BODY_BYTES } from "../access/guards.ts"
import { throwIfRejected } from "../hosts/rpc.ts"
import { openIntern } from "../lifecycle/open-intern.ts"
import { internError } from "../lifecycle/reasons.ts"
import { internParams } from "../routes.ts"
import { NoFields } from "../schemas.ts"
import { InternSessions, InternTranscript, noSession, sessionParams, toEntry, toSession } from "./session-schemas.ts"

const tags = ["Interns"]

const PAGE = "must be an integer from 1 to 200"
const pageOf = (fallback: number) => queryIntegerOr(fallback, 1, 200, PAGE)

const list = createRoute({
  method: "get",
  path: "/interns/{internId}/sessions",
  operationId: "listInternSessions",
  tags,
  summary: "List the sessions of an intern",
  description: `The most recently used first. ${CONTROL_RIGHTS}`,
  middleware: [...controlGuards] as const,
  request: {
    params: internParams,
    query: z.object({
      limit: pageOf(50),
      starting_after: z
        .string()
        .min(1)
        .max(512)
        .optional()
        .meta({ description: "`next_cursor` of the previous page." }),
      origin: z
        .string()
        .regex(/^(?:chat|background|acp|schedule:[0-9a-f-]{36})$/, "accepts chat, background, acp, schedule:<id>")
        .optional()
        .meta({ description: "Only sessions of this `origin`: those of a schedule are its history." }),
    }),
  },
  responses: { 200: ok(InternSessions), ...CONTROL_FAILURES },
})

const read = createRoute({
  method: "get",
  path: "/interns/{internId}/sessions/{sessionId}",
  operationId: "getInternTranscript",
  tags,
  summary: "Get a session's transcript",
  description: `Oldest first. ${CONTROL_RIGHTS} To follow a turn, poll with \`after\` set to \`n\` of the last entry. At most 5,000 entries are kept.`,
  middleware: [...controlGuards] as const,
  request: {
    params: sessionParams,
    query: z.object({
      after: queryIntegerOr(0, 0, Number.MAX_SAFE_INTEGER, "must be the n of an entry"),
      limit: pageOf(100),
    }),
  },
  responses: { 200: ok(InternTranscript), ...CONTROL_FAILURES },
})

const remove = createRoute({
  method: "delete",
  path: "/interns/{internId}/sessions/{sessionId}",
  operationId: "deleteInternSession",
  tags,
  summary: "Delete a session",
  description: `Also deletes its transcript. ${CONTROL_RIGHTS}`,
  middleware: [...controlGuards] as const,
  request: { params: sessionParams },
  responses: { 200: ok(z.object({ deleted: z.literal(true) })), ...CONTROL_FAILURES, ...failures("conflict") },
})

const cancel = createRoute({
  method: "post",
  path: "/interns/{internId}/sessions/{sessionId}/cancel",
  operationId: "cancelInternTurn",
  tags,
  summary: "Cancel the turn of a session",
  description: CONTROL_RIGHTS,
  middleware: [...controlGuards, acceptJson(MAX_INTERN_BODY_BYTES)] as const,
  request: { params: sessionParams, body: { content: json(NoFields), required: false } },
  responses: {
    202: ok(z.object({ cancelling: z.literal(true) })),
    ...CONTROL_FAILURES,
    ...failures("conflict", "payload_too_large", "unsupported_media_type"),
  },
})

const answer = createRoute({
  method: "post",
  path: "/interns/{internId}/questions/{questionId}",
  operationId: "answerInternQuestion",
  tags,
  summary: "Answer an open question",
  description: `The turn continues in the background. ${CONTROL_RIGHTS} The answer has the form of a \`tool\` message in a chat.`,
  middleware: [...controlGuards, acceptJson(MAX_INTERN_BODY_BYTES)] as const,
  request: {
    params: internParams.extend({ questionId: z.string().min(1).max(128) }),
    body: jsonBody(
      z
        .strictObject({
          session_id: z.string().min(1).max(256),
          content: z.string().max(32_000).meta({ description: "A permission's option, `cancel`, or a form as JSON." }),
        })
        .meta({ id: "InternAnswer" }),
    ),
  },
  responses: {
    202: ok(InternSteered, "The turn continues."),
    ...CONTROL_FAILURES,
    ...failures("conflict", "gone", "payload_too_large", "unsupported_media_type", "intern_unreachable"),
  },
})

export const internSessions = newRouter()
  .openapi(list, async (c) => {
    const { id } = await controlledIntern(c, c.req.valid("param").internId)
    const { limit: size, starting_after: cursor, origin } = c.req.valid("query")
    const before = cursor === undefined ? undefined : readSessionCursor(cursor)
    if (cursor !== undefined && !before) {
      throw internError("invalid_body", "starting_after: must be the next_cursor of a previous page.")
    }
    const states = await openIntern(c.env, id).sessions(size + 1, before, origin)
    const data = states.slice(0, size).map(toSession)
    const last = states[size - 1]?.record
    const hasMore = states.length > size
    const next = hasMore && last ? { next_cursor: toSessionCursor(last) } : {}
    return c.json({ data, has_more: hasMore, ...next }, 200)
  })
  .openapi(read, async (c) => {
    const { internId, sessionId } = c.req.valid("param")
    const { after, limit: size } = c.req.valid("query")
    const { id } = await controlledIntern(c, internId)
    const found = await openIntern(c.env, id).transcript(sessionId, after, size + 1)
    if (!found) throw noSession()
    const entries = found.entries.slice(0, size).map(toEntry)
    return c.json({ data: entries, has_more: found.entries.length > size, session: toSession(found.session) }, 200)
  })
  .openapi(remove, async (c) => {
    const { internId, sessionId } = c.req.valid("param")
    const { id } = await controlledIntern(c, internId)
    const outcome = await openIntern(c.env, id).deleteSession(sessionId)
    if (outcome === "unknown") throw noSession()
    if (outcome === "busy") throw internError("busy_session", "A turn is in progress in this session. Cancel it first.")
    return c.json({ deleted: true } as const, 200)
  })
  .openapi(cancel, async (c) => {
    const { internId, sessionId } = c.req.valid("param")
    const { id } = await controlledIntern(c, internId)
    const intern = openIntern(c.env, id)
    if (!(await intern.stopSession(sessionId))) {
      if (!(await intern.transcript(sessionId, 0, 1))) throw noSession()
      throw internError("interaction_not_pending", "No turn is in progress in this session.")
    }
    return c.json({ cancelling: true } as const, 202)
  })
  .openapi(answer, async (c) => {
    const { internId, questionId: question } = c.req.valid("param")
    const { session_id: session, content } = c.req.valid("json")
    const row = await controlledIntern(c, internId)
    await requireWorkingKey(c.env, row)
    const call = { is: "answer", session, question, content, mode: "manual", isBackground: true } as const
    const request = new Request("http://intern/chat", { method: "POST", body: JSON.stringify(call) })
    const response = await throwIfRejected(await openIntern(c.env, row.id).fetch(request))
    return c.json(await response.json<z.infer<typeof InternSteered>>(), 202)
  })
