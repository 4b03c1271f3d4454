import { createRoute } from "@hono/zod-openapi"
import type * as z from "zod"
import { configOf } from "../../config/config.ts"
import { BASE_PATH } from "../../http/paths.ts"
import type { Context } from "hono"
import { acceptJson, newRouter } from "../../http/router.ts"
import { GatewayError } from "../../errors/errors.ts"
import { failures, jsonBody, ok } from "../../http/schema.ts"
import type { App } from "../../access/app.ts"
import { findNonMembers } from "../../members/store.ts"
import { isLongerThan } from "../../support/text/text-length.ts"
import { requireInternsAccess, requireWorkingKey, visibleIntern } from "../access/access.ts"
import {
  InternChatChunk,
  InternChatRequest,
  type InternMessage,
  InternSteered,
  MAX_PROMPT_CHARS,
} from "./chat-schemas.ts"
import { MAX_INTERN_BODY_BYTES, addErrorReasons } from "../access/guards.ts"
import { type ChatCall, throwIfRejected } from "../hosts/rpc.ts"
import { spellingOf } from "../run/chunks.ts"
import { withErrorEnd } from "../lifecycle/connection-loss.ts"
import { openIntern } from "../lifecycle/open-intern.ts"
import { internError } from "../lifecycle/reasons.ts"
import { internParams, startProvisioning } from "../routes.ts"

const chat = createRoute({
  method: "post",
  path: "/interns/{internId}/chat/completions",
  operationId: "chatWithIntern",
  tags: ["Interns"],
  summary: "Chat with an intern",
  description:
    "A `user` message starts a turn, or steers the one that runs in its session (202). A `tool` message answers the " +
    "question that paused a turn. The session chunk before `[DONE]` has the id of the session to continue with. With " +
    "`stream: false` and `Prefer: respond-async`, the turn runs in the background for up to an hour: 202 has its " +
    "session, whose transcript can be read later, and its questions wait for up to a day.",
  middleware: [addErrorReasons("bad_request"), requireInternsAccess, acceptJson(MAX_INTERN_BODY_BYTES)] as const,
  request: { params: internParams, body: jsonBody(InternChatRequest) },
  responses: {
    200: { description: "The turn.", content: { "text/event-stream": { schema: InternChatChunk } } },
    202: ok(InternSteered, "The message steers the turn in progress, or the turn runs in the background."),
    ...failures("invalid_request", "unauthenticated", "forbidden", "not_found", "timeout", "conflict", "gone"),
    ...failures("payload_too_large", "unsupported_media_type", "rate_limited", "internal", "intern_unreachable"),
    ...failures("unavailable", "intern_timeout"),
  },
})

export const internChat = newRouter({ relaysText: true }).openapi(chat, async (c) => {
  const found = await visibleIntern(c, c.req.valid("param").internId)
  // The first chat starts an intern that was only created. With a daemon host, it must be provisioned first.
  const row = found.status === "queued" && found.host !== "daemon" ? await startProvisioning(c, found) : found
  await requireWorkingKey(c.env, row)
  await requireCreator(c)
  const input = c.req.valid("json")
  const isBackground = !input.stream
  if (isBackground && !prefersAsync(c.req.header("prefer"))) {
    throw internError(
      "bad_request",
      "stream: must be true: an intern answers as a stream. With the header `Prefer: respond-async`, false starts a background turn.",
    )
  }
  const call = { ...toCall(input), isBackground, origin: isBackground ? "background" : "chat" }
  const request = new Request("http://intern/chat", {
    method: "POST",
    body: JSON.stringify(call),
    ...(!isBackground && { signal: c.req.raw.signal }),
  })
  const response = await throwIfRejected(await openIntern(c.env, row.id).fetch(request))
  if (!isBackground) return toClient(response, c, call.session)
  const started = await response.json<z.infer<typeof InternSteered>>()
  const location = `${BASE_PATH}/interns/${row.id}/sessions/${encodeURIComponent(started.session_id)}`
  return c.json(started, 202, { "preference-applied": "respond-async", location })
})

function toClient(response: Response, c: Context<App>, session: string | null): Response {
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false
  const spelling = spellingOf(configOf(c.env).CLIENT_DIALECT)
  return new Response(
    isStream && response.body ? withErrorEnd(response.body, session, spelling) : response.body,
    response,
  )
}

const prefersAsync = (header: string | undefined) => /(?:^|[,;\s])respond-async(?:$|[,;\s])/i.test(header ?? "")

/** An intern acts for the creator of the key. Rejects keys whose creator has left. */
async function requireCreator(c: Context<App>): Promise<void> {
  const { organizationId, creatorUserId } = c.var.principal
  if (creatorUserId === null) return
  const formerMembers = await findNonMembers(c.env.DB, organizationId, [creatorUserId])
  if (formerMembers.length === 0) return
  throw new GatewayError("forbidden", "The creator of this key is no longer a member of the organization.")
}

function toCall({ messages, approval_mode, session_id }: InternChatRequest): ChatCall {
  const last = messages.at(-1)
  const common = { session: session_id ?? null, mode: approval_mode ?? "self-drive" } as const
  if (last?.role === "user") return { ...common, is: "prompt", text: promptOf(last) }
  if (last?.role !== "tool") {
    throw internError("bad_request", "messages: the last one must be of a user, or of a tool that answers a question.")
  }
  if (session_id == null) {
    throw internError("bad_request", "session_id: is required with an answer. The last chunk before [DONE] named it.")
  }
  return { ...common, is: "answer", question: last.tool_call_id, content: textOf(last) }
}

function promptOf(message: InternMessage): string {
  const text = textOf(message)
  if (text.trim() === "") throw internError("bad_request", "messages: the last one must not be empty.")
  if (!isLongerThan(text, MAX_PROMPT_CHARS)) return text
  throw internError("bad_request", `messages: the last one must be at most ${MAX_PROMPT_CHARS} characters.`)
}

function textOf({ content }: InternMessage): string {
  if (content == null) return ""
  if (typeof content === "string") return content
  return content.map(({ type, text }) => (type === "text" && typeof text === "string" ? text : rejectPart())).join("")
}

function rejectPart(): never {
  throw internError("bad_request", "messages: the content of the last one must be a string, or parts of type text.")
}
