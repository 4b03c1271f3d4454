import { methods } from "@agentclientprotocol/sdk"
import { expect } from "vitest"
import type { newInternApi } from "../daemon/intern-client.ts"
import { eventually } from "./eventually.ts"
import { type Access, connectEditor } from "./published-editor.ts"

type Surroundings = {
  id: string
  internApi: ReturnType<typeof newInternApi>
  access: Access
  /** A prompt on which the model calls the shell with this command. */
  command: (text: string) => string
}
type Question = { id: string; session_id: string; question: { command?: string } }
type Session = { id: string; origin: string; status: string; turns: number; usage: { total_tokens: number } | null }
type Transcript = { session: Session; data: { kind: string; command?: string }[] }

const TIMEOUT_MS = 60_000

/** An editor and a chat use the sessions of an intern in turn, for any agent. */
export async function sharesSessions({ id, internApi, access, command }: Surroundings): Promise<void> {
  const transcript = (session: string) => internApi.json<Transcript>("GET", `/interns/${id}/sessions/${session}`)
  const session = "begun-by-a-chat"
  const pending = await (await internApi.prompt(id, command("echo first"), { session_id: session })).all()
  await (await internApi.answer(id, session, pending.question, "allow_once")).all()

  // The editor opens the session of the chat, sees it, and continues it.
  const editor = connectEditor(access)
  await editor.begin()
  const { agent } = editor.connection
  const { sessions } = await agent.request(methods.agent.session.list, { cwd: "/work" })
  expect(sessions).toMatchObject([{ sessionId: session, cwd: "/work" }])
  await agent.request(methods.agent.session.load, { sessionId: session, cwd: "/work", mcpServers: [] })
  expect(editor.said("user_message_chunk")).toContain("echo first")
  expect(editor.said()).toContain("first")
  expect(await editor.prompt(session, command("echo second"))).toMatchObject({ stopReason: "end_turn" })
  expect(editor.said()).toContain("second")

  // The chat continues a session of the editor.
  const { sessionId: made } = await agent.request(methods.agent.session.new, { cwd: "/work", mcpServers: [] })
  expect(await editor.prompt(made, command("echo third"))).toMatchObject({ stopReason: "end_turn" })
  const next = await (await internApi.prompt(id, command("echo fourth"), { session_id: made })).all()
  const done = await (await internApi.answer(id, made, next.question, "allow_once")).all()
  expect(done.text).toContain("fourth")
  const { session: record, data } = await transcript(made)
  expect(record).toMatchObject({ origin: "acp", turns: 2 })
  expect(data.flatMap((entry) => (entry.kind === "tool_call" ? (entry.command ?? []) : []))).toEqual([
    "echo third",
    "echo fourth",
  ])

  // A question without an answer in the editor is answered from the list.
  const away = connectEditor(access, { isAway: true })
  await away.begin()
  await away.connection.agent.request(methods.agent.session.load, { sessionId: made, cwd: "/work", mcpServers: [] })
  const prompt = away.prompt(made, command("echo fifth"))
  const question = await eventually(async () => {
    const questions = await internApi.json<{ data: Question[] }>("GET", "/questions")
    const found = questions.data.find(({ session_id: of }) => of === made)
    if (!found) throw new Error("no question yet")
    return found
  }, TIMEOUT_MS)
  expect(question.question.command).toBe("echo fifth")
  expect((await internApi.prompt(id, "Mine", { session_id: made })).response.status).toBe(409)
  await internApi.json("POST", `/interns/${id}/questions/${question.id}`, { session_id: made, content: "allow_once" })
  expect(await prompt).toMatchObject({ stopReason: "end_turn" })
  expect(away.questions).toHaveLength(1)
  await eventually(async () => {
    expect((await transcript(made)).session.usage?.total_tokens).toBeGreaterThan(0)
  }, TIMEOUT_MS)
}
