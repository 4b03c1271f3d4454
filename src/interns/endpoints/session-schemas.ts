import * as z from "zod"
import { parseStored } from "../../support/text/json.ts"
import { toTimestamp } from "../../support/time/time.ts"
import { Usage } from "./chat-schemas.ts"
import type { SessionState } from "../hosts/rpc.ts"
import { MAX_SCHEDULES, type Schedule } from "../schedule.ts"
import { internError } from "../lifecycle/reasons.ts"
import { internParams } from "../routes.ts"
import type { StoredEntry, TranscriptEntry as Entry } from "../run/transcript.ts"

const TurnError = z.object({ reason: z.string(), message: z.string() })

export const sessionParams = internParams.extend({ sessionId: z.string().min(1).max(256) })

export function noSession() {
  return internError("not_found", "This intern has no session with this id.")
}

export const InternSession = z
  .object({
    id: z.string().meta({ description: "The `session_id` of chat requests." }),
    acp_session_id: z
      .string()
      .nullable()
      .meta({ description: "The agent's id. ACP clients load a session by it or by `id`." }),
    title: z.string().meta({ description: "The beginning of the first prompt." }),
    origin: z
      .string()
      .meta({ description: "`chat`, `acp` (an editor), `background`, or `schedule:` and the id of a schedule." }),
    status: z
      .enum(["running", "waiting", "idle"])
      .meta({ description: "`waiting`: a question is open. `idle`: no turn is in progress." }),
    open_question_id: z.string().nullable(),
    turns: z.int(),
    usage: Usage.nullable().meta({
      description: "Usage of all turns, as recorded by the gateway or else as reported by the agent.",
    }),
    last_error: TurnError.nullable().meta({ description: "Why the last turn failed; null if it did not." }),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: "InternSession" })
export type InternSession = z.infer<typeof InternSession>

export function toSession({ record, run, acp }: SessionState): InternSession {
  const { id, title, origin, turns, usage, lastEnd, createdAt, updatedAt } = record
  return {
    id,
    acp_session_id: acp,
    title,
    origin,
    status: run === null ? "idle" : run.questionId === null ? "running" : "waiting",
    open_question_id: run?.questionId ?? null,
    turns,
    usage,
    last_error: lastEnd?.error ?? null,
    created_at: toTimestamp(createdAt),
    updated_at: toTimestamp(updatedAt),
  }
}

export const InternSessions = z
  .object({ data: z.array(InternSession), has_more: z.boolean(), next_cursor: z.string().optional() })
  .meta({ id: "InternSessions" })

export const TranscriptEntry = z
  .looseObject({
    n: z.int().meta({ description: "Ascending number; use the last one as `after` of the next page." }),
    at: z.iso.datetime(),
    kind: z.enum(["prompt", "text", "reasoning", "tool_call", "question", "answer", "end"]),
    text: z.string().optional(),
    id: z.string().optional(),
    title: z.string().optional(),
    status: z.string().optional(),
    command: z.string().optional().meta({ description: "The exact command of a tool call." }),
    folder: z.string().optional().meta({ description: "The working directory of the command." }),
    url: z.string().optional(),
    paths: z.array(z.string()).optional().meta({ description: "Files that a tool call reads or changes." }),
    diffs: z
      .array(
        z.object({
          path: z.string(),
          before: z.string().nullable().meta({ description: "The text before the change; null for a new file." }),
          after: z.string().meta({ description: "The text after the change." }),
        }),
      )
      .optional()
      .meta({ description: "Changes of files by a tool call." }),
    input: z
      .string()
      .optional()
      .meta({ description: "The arguments of a tool call as JSON, if no other field applies." }),
  })
  .meta({
    id: "InternTranscriptEntry",
    description:
      "`prompt`, `text` and `reasoning` have `text`. `tool_call` has `id`, `title`, `status` and, in the entry where the " +
      "agent first reports it, the operation: `command` with its `folder`, `url`, `paths`, `diffs`, or else `input`; " +
      "long texts are cut in the middle. Later entries with the same `id` update its `status`. `question` has `id` and " +
      "`question`, `answer` has `question_id` and `content`. `end` has `usage` and, if the turn failed, `error`.",
  })

export function toEntry({ n, at, body }: StoredEntry): z.infer<typeof TranscriptEntry> {
  return { n, at: toTimestamp(at), ...parseStored<Entry>(body) }
}

export const InternTranscript = z
  .object({ data: z.array(TranscriptEntry), has_more: z.boolean(), session: InternSession })
  .meta({ id: "InternTranscript" })

const cron = z
  .string()
  .min(1, "must be a cron expression of five fields, such as 0 8 * * 1-5")
  .max(100)
  .meta({ description: "Five fields, such as `0 8 * * 1-5`. At least 5 minutes apart." })
const prompt = z.string().min(1, "must not be empty").max(32_000, "must be at most 32000 characters")
/** A smaller amount would be stored as 0 nano-USD. */
const MIN_USD = 0.000_000_001
const MAX_USD = 1_000_000
const limitRule = `must be from 0.000000001 to ${MAX_USD} USD, or null for no limit`
const dailyLimit = z.number({ error: limitRule }).min(MIN_USD, limitRule).max(MAX_USD, limitRule).nullable()
const DAILY_LIMIT =
  "USD that its runs may cost per UTC day. Every call of a run is held against it: a run ends when the next call exceeds it, and none starts once it is spent."

export const NewSchedule = z
  .strictObject({
    cron,
    timezone: z.string().max(64).default("UTC").meta({ description: "IANA name, such as `Europe/Berlin`." }),
    prompt,
    session: z
      .enum(["new", "same"])
      .default("new")
      .meta({ description: "Each run in a new session, or all runs in one session." }),
    enabled: z.boolean().default(true),
    daily_limit_usd: dailyLimit.default(null).meta({ description: DAILY_LIMIT }),
  })
  .meta({ id: "NewInternSchedule", description: `An intern has at most ${MAX_SCHEDULES} schedules.` })
export type NewSchedule = z.infer<typeof NewSchedule>

export const ScheduleUpdate = z
  .strictObject({
    cron: cron.optional(),
    timezone: z.string().max(64).optional(),
    prompt: prompt.optional(),
    session: z.enum(["new", "same"]).optional(),
    enabled: z.boolean().optional(),
    daily_limit_usd: dailyLimit.optional().meta({ description: DAILY_LIMIT }),
  })
  .meta({ id: "InternScheduleChange" })

export const InternSchedule = z
  .object({
    id: z.uuid(),
    cron: z.string(),
    timezone: z.string(),
    prompt: z.string(),
    session: z.enum(["new", "same"]),
    enabled: z.boolean(),
    daily_limit_usd: z.number().nullable(),
    next_run_at: z.iso.datetime().nullable(),
    last_run_at: z.iso.datetime().nullable(),
    last_session_id: z.string().nullable(),
    last_error: z.string().nullable().meta({ description: "Why the last run did not start; null if it did." }),
    created_at: z.iso.datetime(),
  })
  .meta({ id: "InternSchedule" })

export function toSchedule(schedule: Schedule): z.infer<typeof InternSchedule> {
  const { id, timezone, session, enabled, nextAt, lastAt, createdAt } = schedule
  return {
    id,
    cron: schedule.cron,
    timezone,
    prompt: schedule.prompt,
    session,
    enabled,
    daily_limit_usd: schedule.dailyLimitUsd,
    next_run_at: nextAt === null ? null : toTimestamp(nextAt),
    last_run_at: lastAt === null ? null : toTimestamp(lastAt),
    last_session_id: schedule.lastSession,
    last_error: schedule.lastError,
    created_at: toTimestamp(createdAt),
  }
}
