import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { root } from "../../src/dev/options.ts"
import { eventually } from "../support/eventually.ts"
import { findFreePort } from "../support/free-port.ts"
import { type Engine, startEngine } from "./engine.ts"
import { type Gateway, startGateway } from "./gateway.ts"
import { removeFolder } from "../support/remove-folder.ts"

/**
 * The deployed container host: the bundle, the class of `@cloudflare/containers`, and the runtime's client of an engine. The
 * engine is simulated, and a container is the real daemon as a process.
 */

const folder = mkdtempSync(path.join(tmpdir(), "gateway-containers-"))
const DAEMON = [process.execPath, path.join(root, "src/daemon/daemon.ts")]
const AGENT = `${process.execPath} ${path.join(root, "test/support/acp-agent.ts")}`
let engine: Engine
let gateway: Gateway

beforeAll(async () => {
  engine = await startEngine(DAEMON, { INTERN_AGENT: AGENT, INTERN_DIR: path.join(folder, "intern") })
  gateway = await startGateway("http://127.0.0.1:9", {}, false, {
    containers: { engine: engine.url, port: await findFreePort() },
  })
})
afterAll(async () => {
  await gateway?.stop()
  engine?.stop()
  removeFolder(folder)
})

type Record = { id: string; status: string; last_failure_message: string | null }

async function recordOf({ url }: Gateway, apiKey: string, id: string): Promise<Record> {
  const response = await fetch(`${url}/api/v1/interns/${id}`, { headers: { authorization: `Bearer ${apiKey}` } })
  return (await response.json()) as Record
}

async function newIntern() {
  const { apiKey } = await gateway.newOrganization()
  const input = { name: "ada", model: "acme/any", host: "cloudflare-container", provision: true }
  const made = await gateway.post(apiKey, "/interns", input)
  const text = await made.text()
  expect(made.status, text).toBe(201)
  const { id } = JSON.parse(text) as Record
  const becomes = (status: string) =>
    eventually(async () => {
      const record = await recordOf(gateway, apiKey, id)
      expect(record.status, JSON.stringify(record)).toBe(status)
      return record
    })
  const sendText = (content: string) =>
    eventually(async () => {
      const body = { stream: true, session_id: "s", approval_mode: "self-drive", messages: [{ role: "user", content }] }
      const response = await gateway.post(apiKey, `/interns/${id}/chat/completions`, body)
      const answer = await response.text()
      expect(response.status, answer).toBe(200)
      return answer
    })
  const act = (verb: string) => gateway.post(apiKey, `/interns/${id}/${verb}`, undefined)
  const remove = () =>
    fetch(`${gateway.url}/api/v1/interns/${id}`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({ acknowledge_workspace_loss: true }),
    })
  return { id, becomes, sendText, act, remove }
}

test("an intern in a container works, is restarted when its container exits, and its container ends with it", async () => {
  const before = engine.started.length
  const intern = await newIntern()
  await intern.becomes("running")
  const first = engine.started[before]
  expect(first).toMatchObject({ INTERN_GATEWAY_URL: gateway.url, INTERN_ID: intern.id })
  expect(await intern.sendText("say hello there")).toContain("hello")

  engine.running()[0]?.kill("SIGKILL")
  await eventually(() => expect(engine.started).toHaveLength(before + 2))
  await intern.becomes("running")
  expect(engine.started[before + 1]?.["INTERN_JOIN_TOKEN"]).not.toBe(first?.["INTERN_JOIN_TOKEN"])
  expect(await intern.sendText("say back again")).toContain("again")

  const suspended = await intern.act("suspend")
  expect(suspended.status, await suspended.text()).toBeLessThan(300)
  await eventually(() => expect(engine.running()).toEqual([]))
  expect(engine.ended).toContain("SIGTERM")
  await intern.becomes("stopped")

  const provisioned = await intern.act("provision")
  expect(provisioned.status, await provisioned.text()).toBeLessThan(300)
  await intern.becomes("running")
  expect((await intern.remove()).status).toBeLessThan(300)
  await eventually(() => expect(engine.running()).toEqual([]))
  expect(engine.ended).toContain("remove")
  expect(engine.started).toHaveLength(before + 3)
})

test("a container that exits repeatedly is restarted a few times, and then the record has the exit code", async () => {
  const { command } = engine.image
  const before = engine.started.length
  engine.image.command = ["sh", "-c", "sleep 1; exit 3"]
  const { becomes } = await newIntern()
  const { last_failure_message: message } = await becomes("failed")
  engine.image.command = command
  expect(message).toContain("exited by itself with code 3")
  expect(engine.started).toHaveLength(before + 3)
  expect(engine.running()).toEqual([])
})

test("a missing image fails provisioning with the engine's error", async () => {
  engine.image.isMissing = true
  const { becomes } = await newIntern()
  const { last_failure_message: message } = await becomes("failed")
  engine.image.isMissing = false
  expect(message).toContain("The container did not start: ")
})

test("without an engine provisioning fails, and an embedded intern still works", async () => {
  const alone = await startGateway("http://127.0.0.1:9", {}, false, {
    containers: { engine: `unix:${path.join(folder, "nobody.sock")}`, port: await findFreePort() },
  })
  try {
    const { apiKey } = await alone.newOrganization()
    const make = async (name: string, host: string) => {
      const made = await alone.post(apiKey, "/interns", { name, model: "acme/any", host, provision: true })
      const text = await made.text()
      expect(made.status, text).toBe(201)
      const { id } = JSON.parse(text) as Record
      return (status: string) =>
        eventually(async () => {
          const record = await recordOf(alone, apiKey, id)
          expect(record.status, JSON.stringify(record)).toBe(status)
          return record
        })
    }
    const inContainer = await make("ada", "cloudflare-container")
    await (
      await make("bob", "embedded")
    )("running")
    expect((await inContainer("failed")).last_failure_message).toContain("engine")
  } finally {
    await alone.stop()
  }
})
