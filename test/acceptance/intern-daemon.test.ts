import { mkdtempSync, readdirSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type Daemon, runDaemon } from "../daemon/run-daemon.ts"
import { eventually } from "../support/eventually.ts"
import { gatewayUrl, newOrganization, type Organization } from "./world.ts"
import { removeFolder } from "../support/remove-folder.ts"

type Chunk = {
  choices: { delta: { content?: string; tool_calls?: { id: string }[] }; finish_reason: string | null }[]
  session_id?: string
  usage?: unknown
  error?: { metadata: { reason: string } }
}

let organization: Organization
let id: string
let daemon: Daemon
let session: string | undefined
const archive = mkdtempSync(path.join(tmpdir(), "gateway-archive-"))

async function send(method: string, resource: string, body?: object): Promise<Response> {
  const headers = {
    authorization: `Bearer ${organization.apiKey}`,
    ...(body && { "content-type": "application/json" }),
  }
  return fetch(gatewayUrl + resource, { method, headers, ...(body && { body: JSON.stringify(body) }) })
}

async function expectStatus(
  status: number,
  method: string,
  resource: string,
  body?: object,
): Promise<Record<string, unknown>> {
  const answer = await send(method, resource, body)
  const text = await answer.text()
  expect(answer.status, text).toBe(status)
  return text === "" ? {} : (JSON.parse(text) as Record<string, unknown>)
}

async function chat(message: object, more: object = {}) {
  const body = { stream: true, messages: [message], ...(session !== undefined && { session_id: session }), ...more }
  const answer = await send("POST", `/interns/${id}/chat/completions`, body)
  const frames = (await answer.text()).split("\n\n").filter((frame) => frame.startsWith("data: {"))
  const chunks = frames.map((frame) => JSON.parse(frame.slice(6)) as Chunk)
  return {
    text: chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join(""),
    question: chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? [])[0]?.id,
    ending: chunks.map(({ choices }) => choices[0]?.finish_reason).findLast(Boolean),
    reason: chunks.find(({ error }) => error)?.error?.metadata.reason,
    session: chunks.at(-1)?.session_id,
    usage: chunks.at(-1)?.usage,
  }
}
const prompt = (content: string, more: object = {}) => chat({ role: "user", content }, more)

const becomes = (status: string) =>
  eventually(async () => expect(await expectStatus(200, "GET", `/interns/${id}`)).toMatchObject({ status }))

beforeAll(async () => {
  organization = await newOrganization()
  const input = { name: "ada", host: "daemon", model: "sim/echo", provision: true }
  id = String((await expectStatus(201, "POST", "/interns", input))["id"])
  await expectStatus(200, "PUT", `/vault/interns/${id}/secrets/token`, {
    hosts: ["api.example.com"],
    value: "the value",
  })
  const { token } = await expectStatus(201, "POST", `/interns/${id}/daemon/token`)
  const args = ["--archive-dir", archive]
  daemon = runDaemon(Number(new URL(gatewayUrl).port), { intern: id, token: String(token), args })
  await becomes("running")
})

afterAll(async () => {
  await daemon.stop()
  removeFolder(archive)
})

test("a prompt reaches the agent of a daemon through the gateway, and its response comes back", async () => {
  const reply = await prompt("say hello\nenv TOKEN")
  session = reply.session
  expect(reply).toMatchObject({
    text: expect.stringMatching(/^hello TOKEN=vault-token-[0-9a-f]{16}$/) as string,
    ending: "stop",
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  })
})

test("a question is asked, and answered in another request", async () => {
  const paused = await prompt("ask rm", { approval_mode: "manual" })
  expect(paused).toMatchObject({ ending: "tool_calls", usage: null })
  const went = await chat({ role: "tool", tool_call_id: paused.question, content: "reject_once" })
  expect(went).toMatchObject({ text: "rm: reject_once", ending: "stop" })
})

test("an agent that dies fails its turn, and its sessions continue with the next one", async () => {
  expect(await prompt("crash 3")).toMatchObject({ ending: "error", reason: "turn_failed" })
  expect(await prompt("say back")).toMatchObject({ text: "back ", ending: "stop", session })
})

test("changed settings are applied by a provision", async () => {
  await expectStatus(200, "PATCH", `/interns/${id}`, { model: "sim/paced" })
  expect((await prompt("env OPENAI_MODEL")).text).toBe("OPENAI_MODEL=sim/echo")
  await expectStatus(202, "POST", `/interns/${id}/provision`)
  await becomes("running")
  expect((await prompt("env OPENAI_MODEL")).text).toBe("OPENAI_MODEL=sim/paced")
})

test("a suspended intern keeps its disk and its sessions", async () => {
  await expectStatus(200, "POST", `/interns/${id}/suspend`)
  await becomes("stopped")
  await expectStatus(202, "POST", `/interns/${id}/provision`)
  await becomes("running")
  expect(await prompt("say resumed")).toMatchObject({ text: "resumed ", ending: "stop", session })
})

test("a deleted intern is archived if its daemon has an archive, and the daemon exits", async () => {
  await expectStatus(202, "DELETE", `/interns/${id}`, {})
  expect(await daemon.exited).toBe(3)
  await eventually(async () => expect((await send("GET", `/interns/${id}`)).status).toBe(404))
  expect(readdirSync(archive)).toHaveLength(1)
})
