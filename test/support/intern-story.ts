import { expect } from "vitest"
import { newInternApi } from "../daemon/intern-client.ts"
import { eventually } from "./eventually.ts"

/** What a user does with an intern in the first hour, for each host of its agent. */

export type Story = {
  /** Ends in /api/v1. */
  url: string
  key: string
  /** In addition to its name. */
  creation: Record<string, unknown>
  /** Starts what the intern needs outside of the gateway. */
  start: (id: string) => Promise<void>
  /** A file of the agent's folder; undefined if there is none. */
  readFile: (id: string, name: string) => Promise<string | undefined>
  receiver: { url: string; got: { headers: Record<string, unknown>; body: string }[] }
}

type Intern = { id: string; status: string; model: string | null; running_model: string | null; usage: number }
type Question = { id: string; session_id: string; question: { kind: string; command?: string; options?: string[] } }
type Usage = { cost?: number; by_model?: { model: string; calls: number }[] } | null
type Session = { id: string; status: string; open_question_id: string | null; usage: Usage; last_error: unknown }
type Transcript = { session: Session; data: { kind: string; content?: string; text?: string }[] }
type Schedule = { id: string; last_session_id: string | null; last_error: string | null }

const TIMEOUT_MS = 60_000

export async function liveStory({ url, key, creation, start, readFile, receiver }: Story): Promise<void> {
  const internApi = newInternApi(url, key)
  const events = () =>
    receiver.got.map(
      ({ body }) => JSON.parse(body) as { type: string; data: { session_id: string; question?: object } },
    )

  // Create without a model; running_model has the used one.
  const { id, model } = await internApi.json<Intern>("POST", "/interns", {
    name: "story",
    provision: true,
    ...creation,
  })
  expect(model).toBeNull()
  await start(id)
  await eventually(async () => {
    expect(await internApi.json<Intern>("GET", `/interns/${id}`)).toMatchObject({
      status: "running",
      running_model: "sim/agent",
    })
  }, TIMEOUT_MS)
  await internApi.json("PUT", `/interns/${id}/webhook`, { url: `${receiver.url}/interns` })

  // Request a command, see exactly that command, reject it.
  const command = "echo kept > report.md; cat report.md"
  const requestCommand = async () => {
    const reading = await (await internApi.prompt(id, `$ ${command}`)).all()
    expect(reading.finish, JSON.stringify(reading.chunks)).toBe("tool_calls")
    expect(JSON.parse(reading.questionText)).toMatchObject({ kind: "permission", command })
    return reading
  }
  const refused = await requestCommand()
  expect((await (await internApi.answer(id, refused.session, refused.question, "reject_once")).all()).finish).toBe(
    "stop",
  )
  expect(await readFile(id, "report.md")).toBeUndefined()

  // Request it again, allow it, read the file.
  const allowed = await requestCommand()
  const answer = await (await internApi.answer(id, allowed.session, allowed.question, "allow_once")).all()
  expect(answer.text).toContain("kept")
  expect(await readFile(id, "report.md")).toBe("kept\n")

  // Disconnect during a turn; the transcript and the open question are stored.
  const later = "echo later > later.md"
  const session = await startInBackground({ url, key, id, text: `$ ${later}` })
  const question = await eventually(async () => {
    const { data } = await internApi.json<{ data: Question[] }>("GET", "/questions")
    const found = data.find(({ session_id: of }) => of === session)
    if (!found) throw new Error("no question yet")
    return found
  }, TIMEOUT_MS)
  expect(question.question).toMatchObject({ kind: "permission", command: later })
  const read = () => internApi.json<Transcript>("GET", `/interns/${id}/sessions/${session}`)
  const waiting = await read()
  expect(waiting.session).toMatchObject({ status: "waiting", open_question_id: question.id })
  expect(waiting.data[0]).toMatchObject({ kind: "prompt", text: `$ ${later}` })
  expect(waiting.data.map(({ kind }) => kind)).toContain("question")

  // Answer from the list; the webhook reports it.
  const path = `/interns/${id}/questions/${question.id}`
  await internApi.json("POST", path, { session_id: session, content: "allow_once" })
  await eventually(async () => expect((await read()).session.status).toBe("idle"), TIMEOUT_MS)
  expect((await read()).data.map(({ kind }) => kind)).toEqual(expect.arrayContaining(["answer", "tool_call", "end"]))
  expect(await readFile(id, "later.md")).toBe("later\n")
  await eventually(() => {
    const types = events().flatMap(({ type, data }) => (data.session_id === session ? [type] : []))
    expect(types).toEqual(["question.opened", "question.answered", "turn.ended"])
  }, TIMEOUT_MS)
  expect(receiver.got[0]?.headers["webhook-signature"]).toMatch(/^v1,/)

  // Schedule it.
  const rule = { cron: "0 8 * * *", prompt: "$ echo scheduled > scheduled.md", daily_limit_usd: 1 }
  const schedule = await internApi.json<Schedule>("POST", `/interns/${id}/schedules`, rule)
  await internApi.json("POST", `/interns/${id}/schedules/${schedule.id}/run`)
  await eventually(async () => {
    const { data } = await internApi.json<{ data: Schedule[] }>("GET", `/interns/${id}/schedules`)
    expect(data[0]?.last_error).toBeNull()
    const run = await internApi.json<Transcript>("GET", `/interns/${id}/sessions/${data[0]?.last_session_id}`)
    expect(run.session).toMatchObject({ status: "idle", last_error: null, origin: `schedule:${schedule.id}` })
  }, TIMEOUT_MS)
  expect(await readFile(id, "scheduled.md")).toBe("scheduled\n")

  // See its cost, by model.
  await eventually(async () => {
    const { usage } = await internApi.json<Intern>("GET", `/interns/${id}`)
    expect(usage).toBeGreaterThan(0)
    const { data } = await internApi.json<{ data: Session[] }>("GET", `/interns/${id}/sessions`)
    const models = data.flatMap((one) => one.usage?.by_model ?? [])
    expect(new Set(models.map((one) => one.model))).toEqual(new Set(["sim/agent"]))
    const costs = data.reduce((sum, one) => sum + (one.usage?.cost ?? 0), 0)
    expect(costs).toBeGreaterThan(0)
    // An agent on a machine may call a model after its turn, for the title of a session.
    if (creation["host"] === undefined) expect(costs).toBeCloseTo(usage, 9)
    else expect(costs).toBeLessThanOrEqual(usage + 1e-9)
  }, TIMEOUT_MS)
}

async function startInBackground({ url, key, id, text }: { url: string; key: string; id: string; text: string }) {
  const response = await fetch(`${url}/interns/${id}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", prefer: "respond-async" },
    body: JSON.stringify({ stream: false, approval_mode: "manual", messages: [{ role: "user", content: text }] }),
  })
  expect(response.status).toBe(202)
  return (JSON.parse(await response.text()) as { session_id: string }).session_id
}
