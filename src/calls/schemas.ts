import * as z from "zod"
import { GenerationContent } from "../generations/schemas.ts"
import { oneOf, queryIntegerOr } from "../http/schema.ts"

const MAX_VALUES = 50

/** A filter: may be repeated, and excludes a value with a leading `!`. */
const filter = (description: string, value = z.string().max(256, "must be at most 256 characters")) =>
  z
    .union([value, z.array(value).max(MAX_VALUES)], { error: `must be a text, at most ${MAX_VALUES} times` })
    .optional()
    .meta({
      description: `${description} May be repeated: one of the values must match. A leading \`!\` excludes the value.`,
    })

const Status = z
  .string()
  .regex(
    /^!?(?:[1-5]\d\d|[1-5]xx|ok|failed|refused|cancelled)$/,
    "accepts an HTTP status, a class such as 5xx, ok, failed, refused and cancelled, each also after !",
  )

const instant = (description: string) =>
  z.iso
    .datetime({ offset: true, error: "must be an RFC 3339 date-time with seconds, such as 2026-11-22T14:00:00Z" })
    .optional()
    .meta({ description })

export const SORTS = ["time", "cost", "duration", "first_token", "tokens"] as const
const SORT_NAMES = ["-time", ...SORTS.slice(1).flatMap((name) => [name, `-${name}`])] as const

const LIMIT = "must be an integer from 1 to 200"

export const CallsQuery = z.object({
  from: instant("Calls that ended at this time or later."),
  to: instant("Calls that ended before this time."),
  model: filter("Model that responded; otherwise the requested one."),
  requested_model: filter("Model or alias that was requested."),
  provider: filter("Name of the provider. Empty: no attempt was made."),
  key: filter("Hash of the API key."),
  app: filter("Title of the app; without one, its URL."),
  workspace: filter("Id or slug of the workspace."),
  status: filter("HTTP status (`429`), class (`5xx`), or outcome (`ok`, `failed`, `refused`, `cancelled`).", Status),
  session_id: filter("Session of the call."),
  creator_user_id: filter("Id of the member who created the key. Empty: the key has no creator."),
  user: filter("End user of the request, or user that the key was created for."),
  guardrail: filter(
    "Action of guardrails: `flag`, `redact` or `block`, the name or id of a guardrail, or a pattern or detector with a finding.",
  ),
  preset: filter("Id of the preset that the request named. Empty: it named none."),
  q: z.string().max(200, "must be at most 200 characters").optional().meta({
    description: "Text in the id, request id, model, app, user, session, key, guardrail findings or error of a call.",
  }),
  sort: oneOf(SORT_NAMES).default("-time").meta({
    description: "Order; `-` is descending. Orders other than time consider the newest 20,000 calls of the range.",
  }),
  limit: queryIntegerOr(50, 1, 200, LIMIT),
  cursor: z.string().max(512, "must be the next_cursor of a previous page").optional().meta({
    description: "`next_cursor` of the previous page, with the same filters and order.",
  }),
})
export type CallsQuery = z.infer<typeof CallsQuery>

const usd = z.number().meta({ description: "USD" })
const count = z.int().min(0)
const ms = z.number().nullable().meta({ description: "milliseconds" })
const text = z.string().nullable()
const Failure = z.object({
  code: z.string().meta({ description: "Name of the error.", examples: ["rate_limited"] }),
  message: z.string().meta({ description: "Truncated to 300 characters." }),
})

export const Call = z
  .object({
    id: z.string().meta({
      description: "Id of the generation (`gen-`), or of a call that was rejected before it was sent (`rej-`).",
    }),
    request_id: z.string(),
    created_at: z.iso.datetime().meta({ description: "Start of the call." }),
    ended_at: z.iso.datetime().meta({ description: "When the call was charged or rejected." }),
    model: z.string().meta({ description: "Model that responded; otherwise the requested one." }),
    requested_model: z.string(),
    provider: text.meta({ description: "Provider that responded, or the last one that was tried." }),
    key: z.object({
      hash: z.string(),
      name: text.meta({ description: "Null for the bootstrap key." }),
      label: text,
    }),
    workspace_id: z.string(),
    app: text,
    user: text,
    session_id: text,
    api_type: z.string(),
    streamed: z.boolean(),
    status: z.int().meta({ description: "HTTP status that the client received, or would have received." }),
    outcome: z.enum(["ok", "failed", "refused", "cancelled"]).meta({
      description:
        "`refused`: by the gateway, before anything was sent. `failed`: after that. `cancelled`: the client disconnected.",
    }),
    ending: z.string(),
    error: Failure.extend({ reason: z.string().optional() }).nullable(),
    finish_reason: text,
    tokens: z.object({ prompt: count, completion: count, cached: count, reasoning: count }),
    cost: usd.meta({ description: "USD charged to the balance." }),
    byok_cost: usd.meta({ description: "USD at the BYOK credential's account, by the gateway's prices." }),
    attempts: count,
    first_token_ms: ms,
    duration_ms: ms.meta({
      description: "Until the last token; without content, until the call failed or was cancelled.",
    }),
  })
  .meta({ id: "Call" })

export const CallList = z
  .object({
    data: z.array(Call),
    has_more: z.boolean(),
    next_cursor: text.meta({ description: "Pass as `cursor`. An empty page may have a next page." }),
    truncated: z.boolean().meta({ description: "The order considered only the newest 20,000 calls of the range." }),
  })
  .meta({ id: "CallList" })

const exact = z.string().meta({ description: "Exact USD, as a decimal string.", examples: ["0.000412500001"] })

export const CallStory = Call.extend({
  endpoint: z.object({ upstream_id: text, tokens_from: z.string(), service_tier: text, is_byok: z.boolean() }),
  trail: z
    .array(
      z.object({
        provider: z.string(),
        model: z.string(),
        status: z.int().nullable().meta({ description: "HTTP status of the provider; null without a response." }),
        duration_ms: z.number(),
        is_byok: z.boolean(),
        key_number: z
          .int()
          .nullable()
          .meta({ description: "Number of the gateway's key that was sent, from 1; null if it has only one." }),
        cache: z
          .enum(["hit", "miss"])
          .nullable()
          .meta({ description: "Whether the response came from the cache; null if the cache was not used." }),
        error: Failure.nullable(),
      }),
    )
    .meta({ description: "Attempts at providers, in order." }),
  guardrails: z
    .array(
      z.object({
        id: z.string(),
        name: z.string(),
        scope: z.string().meta({ description: "`key`, `member` or `workspace`" }),
        action: z.string().meta({ description: "Strongest action: `block`, `redact` or `flag`" }),
        patterns: z.array(z.string()).meta({ description: "Names of the findings, never the text." }),
      }),
    )
    .meta({ description: "Guardrails with findings." }),
  tokens_by_kind: z.record(z.string(), z.number()),
  arithmetic: z.object({
    lines: z.array(
      z.object({
        kind: z.string().meta({
          description:
            "Kind of token or unit; `rounding` up to a nano-dollar; `above_hold`: counted above the hold and not charged; `unitemized`: prices at that time are not known.",
        }),
        units: z.number().nullable(),
        price: z.string().nullable().meta({ description: "USD per unit." }),
        amount: exact,
      }),
    ),
    total: exact.meta({ description: "Sum of the lines: `cost`, or `byok_cost` for a BYOK credential." }),
    paid_by: z.enum(["balance", "byok", "nobody"]),
  }),
  held: z
    .object({
      amount: exact,
      limits: z.array(
        z.object({
          kind: z.enum(["key", "budget", "guardrail", "provider", "schedule"]),
          id: z.string(),
          name: text,
          limit: usd,
          interval: text.meta({ description: "Null for a limit that never resets." }),
        }),
      ),
    })
    .nullable()
    .meta({ description: "Reservations for the call, except on the balance. Null if not recorded." }),
  times: z
    .object({
      received: z.iso.datetime(),
      sent: z.iso.datetime().nullable().meta({ description: "Dispatch to the provider that responded." }),
      first_token: z.iso.datetime().nullable(),
      last_token: z.iso.datetime().nullable(),
      settled: z.iso.datetime(),
    })
    .meta({ description: "Null for steps that did not happen." }),
  session: z.array(Call).meta({ description: "Up to 50 other calls of the session, the newest first." }),
  content: GenerationContent.nullable().meta({ description: "Null if the workspace does not log this call." }),
}).meta({ id: "CallStory" })
