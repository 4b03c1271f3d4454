import { methods } from "@agentclientprotocol/sdk"
import { afterAll, beforeAll, expect, test } from "vitest"
import { sharesSessions } from "../support/shared-sessions.ts"
import { newInternApi } from "../daemon/intern-client.ts"
import { runDaemon } from "../daemon/run-daemon.ts"
import { eventually } from "../support/eventually.ts"
import { type Access, closeEditors, connectEditor as connect } from "../support/published-editor.ts"
import { gatewayUrl, newOrganization, type Organization } from "./world.ts"

let organization: Organization

beforeAll(async () => {
  organization = await newOrganization()
})

afterAll(closeEditors)

async function callApi<T>(method: string, resource: string, body?: object): Promise<T> {
  const answer = await fetch(gatewayUrl + resource, {
    method,
    headers: { authorization: `Bearer ${organization.apiKey}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  expect(answer.status, text).toBeLessThan(300)
  return JSON.parse(text) as T
}

const becomesRunning = (id: string) =>
  eventually(async () => expect(await callApi("GET", `/interns/${id}`)).toMatchObject({ status: "running" }))

test("the published ACP client works with an intern's agent, disconnects, and loads its session again", async () => {
  const made = { name: "ada", model: "sim/tool-call", provision: true }
  const { id } = await callApi<{ id: string }>("POST", "/interns", made)
  await becomesRunning(id)
  const access = await callApi<Access>("GET", `/interns/${id}/daemon`)
  const first = connect(access)
  expect(await first.begin()).toMatchObject({ protocolVersion: 1, agentCapabilities: { loadSession: true } })
  const { sessionId } = await first.connection.agent.request(methods.agent.session.new, { cwd: "/", mcpServers: [] })
  expect(await first.prompt(sessionId, "echo hello | tr a-z A-Z")).toMatchObject({ stopReason: "end_turn" })
  expect(first.said()).toContain("HELLO")
  first.connection.close()

  const second = connect(access)
  await second.begin()
  await second.connection.agent.request(methods.agent.session.load, { sessionId, cwd: "/", mcpServers: [] })
  expect(second.said("user_message_chunk")).toBe("echo hello | tr a-z A-Z")
  expect(await second.prompt(sessionId, "pwd")).toMatchObject({ stopReason: "end_turn" })

  await callApi("POST", `/interns/${id}/suspend`)
  await second.connection.closed
  await expect(connect(access).begin()).rejects.toThrow()
})

test("the published ACP client works with an agent of a daemon, and cancels its turn", async () => {
  const made = { name: "bob", host: "daemon", model: "sim/echo", provision: true }
  const { id } = await callApi<{ id: string }>("POST", "/interns", made)
  const { token } = await callApi<{ token: string }>("POST", `/interns/${id}/daemon/token`)
  const daemon = runDaemon(Number(new URL(gatewayUrl).port), { intern: id, token, args: [] })
  try {
    await becomesRunning(id)
    const editor = connect(await callApi<Access>("GET", `/interns/${id}/daemon`))
    await editor.begin()
    const { agent } = editor.connection
    const { sessionId } = await agent.request(methods.agent.session.new, { cwd: "/", mcpServers: [] })
    expect(await editor.prompt(sessionId, "say hello\nask rm")).toMatchObject({ stopReason: "end_turn" })
    expect(editor.said()).toBe("hello rm: allow_once")
    // More than a client may leave unacknowledged: the gateway asks for acknowledgements in between.
    for (let round = 0; round < 4; round++) await editor.prompt(sessionId, `big ${3 * 1024 * 1024}`)
    expect(editor.said().length).toBeGreaterThan(12 * 1024 * 1024)
    const held = editor.prompt(sessionId, "say waiting\nhold")
    await eventually(() => expect(editor.said()).toContain("waiting"))
    await agent.notify(methods.agent.session.cancel, { sessionId })
    expect(await held).toMatchObject({ stopReason: "cancelled" })
  } finally {
    await daemon.stop()
  }
})

test("an ACP client shares sessions with chats in both directions, and a question can be answered from the list", async () => {
  const { id } = await callApi<{ id: string }>("POST", "/interns", {
    name: "eve",
    model: "sim/tool-call",
    provision: true,
  })
  await becomesRunning(id)
  const internApi = newInternApi(gatewayUrl, organization.apiKey)
  const access = await callApi<Access>("GET", `/interns/${id}/daemon`)
  await sharesSessions({ id, internApi, access, command: (text) => text })
})
