import { createRoute } from "@hono/zod-openapi"
import * as z from "zod"
import { acceptJson, newRouter } from "../../http/router.ts"
import { failures, json, jsonBody, ok, uuidParam } from "../../http/schema.ts"
import { newId } from "../../support/ids.ts"
import { auditIntern, CONTROL_FAILURES, CONTROL_RIGHTS, controlGuards, controlledIntern } from "../lifecycle/control.ts"
import { MAX_INTERN_BODY_BYTES } from "../access/guards.ts"
import { identityOf, openIntern } from "../lifecycle/open-intern.ts"
import { internError } from "../lifecycle/reasons.ts"
import { internParams } from "../routes.ts"
import { cronError, MAX_SCHEDULES, type Schedule, type ScheduleChange } from "../schedule.ts"
import { NoFields } from "../schemas.ts"
import { InternSchedule, NewSchedule, ScheduleUpdate, toSchedule } from "./session-schemas.ts"

const tags = ["Interns"]
const body = acceptJson(MAX_INTERN_BODY_BYTES)
const written = { ...CONTROL_FAILURES, ...failures("conflict", "payload_too_large", "unsupported_media_type") }
const scheduleParams = internParams.extend({ scheduleId: uuidParam("a schedule") })

const create = createRoute({
  method: "post",
  path: "/interns/{internId}/schedules",
  operationId: "createInternSchedule",
  tags,
  summary: "Create a schedule",
  description: `A prompt that is sent to the intern by schedule, in self-drive mode. ${CONTROL_RIGHTS}`,
  middleware: [...controlGuards, body] as const,
  request: { params: internParams, body: jsonBody(NewSchedule) },
  responses: { 201: ok(InternSchedule), ...written },
})

const list = createRoute({
  method: "get",
  path: "/interns/{internId}/schedules",
  operationId: "listInternSchedules",
  tags,
  summary: "List the schedules of an intern",
  description: `Their runs are sessions with their id in \`origin\`. ${CONTROL_RIGHTS}`,
  middleware: [...controlGuards] as const,
  request: { params: internParams },
  responses: { 200: ok(z.object({ data: z.array(InternSchedule) })), ...CONTROL_FAILURES },
})

const update = createRoute({
  method: "patch",
  path: "/interns/{internId}/schedules/{scheduleId}",
  operationId: "updateInternSchedule",
  tags,
  summary: "Update a schedule",
  description: `\`enabled\` pauses it. ${CONTROL_RIGHTS}`,
  middleware: [...controlGuards, body] as const,
  request: { params: scheduleParams, body: jsonBody(ScheduleUpdate) },
  responses: { 200: ok(InternSchedule), ...written },
})

const remove = createRoute({
  method: "delete",
  path: "/interns/{internId}/schedules/{scheduleId}",
  operationId: "deleteInternSchedule",
  tags,
  summary: "Delete a schedule",
  description: `A run in progress continues. ${CONTROL_RIGHTS}`,
  middleware: [...controlGuards] as const,
  request: { params: scheduleParams },
  responses: { 200: ok(z.object({ deleted: z.literal(true) })), ...CONTROL_FAILURES },
})

const run = createRoute({
  method: "post",
  path: "/interns/{internId}/schedules/{scheduleId}/run",
  operationId: "runInternSchedule",
  tags,
  summary: "Run a schedule now",
  description: `${CONTROL_RIGHTS} If it did not start, \`last_error\` has the reason.`,
  middleware: [...controlGuards, body] as const,
  request: { params: scheduleParams, body: { content: json(NoFields), required: false } },
  responses: {
    202: ok(InternSchedule),
    ...CONTROL_FAILURES,
    ...failures("payload_too_large", "unsupported_media_type"),
  },
})

export const internSchedules = newRouter()
  .openapi(create, async (c) => {
    const row = await controlledIntern(c, c.req.valid("param").internId)
    const { cron, timezone, prompt, session, enabled, daily_limit_usd: dailyLimitUsd } = c.req.valid("json")
    const now = Date.now()
    requireCron(cron, timezone, now)
    const rule = { id: newId(), cron, timezone, prompt, session, enabled, dailyLimitUsd }
    const blank = { nextAt: null, lastAt: null, lastSession: null, lastError: null, createdAt: now }
    const stored = await openIntern(c.env, row.id).addSchedule(identityOf(c, row), { ...rule, ...blank })
    if (stored === "too many") {
      throw internError(
        "intern_rejected",
        `An intern has at most ${MAX_SCHEDULES} schedules. Delete one of them first.`,
      )
    }
    await auditIntern(c, row, "intern.schedule_create")
    return c.json(toSchedule(stored), 201)
  })
  .openapi(list, async (c) => {
    const { id } = await controlledIntern(c, c.req.valid("param").internId)
    const schedules: Schedule[] = await openIntern(c.env, id).schedules()
    return c.json({ data: schedules.map(toSchedule) }, 200)
  })
  .openapi(update, async (c) => {
    const { internId, scheduleId } = c.req.valid("param")
    const row = await controlledIntern(c, internId)
    const intern = openIntern(c.env, row.id)
    const schedules: Schedule[] = await intern.schedules()
    const schedule = schedules.find(({ id }) => id === scheduleId)
    if (!schedule) throw noSchedule()
    const { daily_limit_usd: limit, ...fields } = c.req.valid("json")
    const defined = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
    const change: ScheduleChange = { ...defined, ...(limit !== undefined && { dailyLimitUsd: limit }) }
    requireCron(change.cron ?? schedule.cron, change.timezone ?? schedule.timezone, Date.now())
    const stored: Schedule | undefined = await intern.changeSchedule(scheduleId, change)
    if (!stored) throw noSchedule()
    await auditIntern(c, row, "intern.schedule_update")
    return c.json(toSchedule(stored), 200)
  })
  .openapi(remove, async (c) => {
    const { internId, scheduleId } = c.req.valid("param")
    const row = await controlledIntern(c, internId)
    if (!(await openIntern(c.env, row.id).deleteSchedule(scheduleId))) throw noSchedule()
    await auditIntern(c, row, "intern.schedule_delete")
    return c.json({ deleted: true } as const, 200)
  })
  .openapi(run, async (c) => {
    const { internId, scheduleId } = c.req.valid("param")
    const { id } = await controlledIntern(c, internId)
    const after = await openIntern(c.env, id).runSchedule(scheduleId)
    if (!after) throw noSchedule()
    return c.json(toSchedule(after), 202)
  })

function requireCron(cron: string, timezone: string, now: number): void {
  const fault = cronError(cron, timezone, now)
  if (fault !== undefined) throw internError("invalid_body", fault)
}

function noSchedule() {
  return internError("not_found", "This intern has no schedule with this id.")
}
