import { expect, test } from "vitest"
import { requestStream } from "./client.ts"
import { eventually } from "../support/eventually.ts"
import { newModel } from "./gateway.ts"
import { useSetup } from "./setup.ts"

const setup = useSetup({ INTERN_KEEPALIVE_MS: "300" })

async function newIntern(apiKey: string, model: string): Promise<string> {
  const made = await setup.gateway.post(apiKey, "/interns", { name: "ada", model, provision: true })
  expect(made.status).toBe(201)
  return ((await made.json()) as { id: string }).id
}

const prompt = (text: string) => ({ stream: true, session_id: "s", messages: [{ role: "user", content: text }] })

test("a client that disconnects while its intern is silent is noticed by a heartbeat, and its turn is cancelled", async () => {
  const { apiKey } = await setup.gateway.newOrganization()
  const silent = setup.upstream.expect({ pieces: ["One", " moment"], ending: "silent" })
  const internId = await newIntern(apiKey, newModel())
  const path = `/interns/${internId}/chat/completions`
  const client = await eventually(async () => {
    const one = requestStream(setup.gateway.url, apiKey, prompt(silent.id), undefined, path)
    await eventually(() => expect(one.body() + (one.header("content-type") ?? "")).not.toBe(""))
    expect(one.header("content-type")).toContain("event-stream")
    return one
  })
  await eventually(() => expect(client.body()).toContain("moment"))
  await eventually(() => expect(client.body()).toContain(": keepalive\n\n"))
  client.leave()
  await eventually(() => expect(silent.closed).toBe(true))
  const next = setup.upstream.expect({ pieces: ["There", " again"], reportsUsage: true })
  await eventually(async () => {
    const answer = await setup.gateway.post(apiKey, path, prompt(next.id))
    const text = await answer.text()
    expect(answer.status, text).toBe(200)
    expect(text).toContain(" again")
  })
})

test("a client that disconnects during a silent command is noticed by a heartbeat, and the command stops", async () => {
  const { apiKey } = await setup.gateway.newOrganization()
  const working = setup.upstream.expect({ pieces: [], command: "sleep 90; echo late > late.txt", reportsUsage: true })
  const path = `/interns/${await newIntern(apiKey, newModel())}/chat/completions`
  const client = requestStream(setup.gateway.url, apiKey, prompt(working.id), undefined, path)
  await eventually(() => expect(working.closed).toBe(true))
  client.leave()
  const next = setup.upstream.expect({ pieces: ["Free", " again"], reportsUsage: true })
  await eventually(async () => {
    const answer = await setup.gateway.post(apiKey, path, prompt(next.id))
    const text = await answer.text()
    expect(answer.status, text).toBe(200)
    expect(text).toContain(" again")
  })
})

test("an intern works after its runtime was killed", async () => {
  const { apiKey } = await setup.gateway.newOrganization()
  const internId = await newIntern(apiKey, newModel())
  await setup.gateway.killRuntime()
  const path = `/interns/${internId}/chat/completions`
  const exchange = setup.upstream.expect({ pieces: ["Still", " here"], reportsUsage: true })
  await eventually(async () => {
    const answer = await setup.gateway.post(apiKey, path, prompt(exchange.id))
    const text = await answer.text()
    expect(answer.status, text).toBe(200)
    expect(text).toContain(" here")
  })
})
