import { expect, test } from "vitest"
import { askForStream } from "./client.ts"
import { eventually } from "../support/eventually.ts"
import { newModel } from "./gateway.ts"
import { useWorld } from "./world.ts"

const world = useWorld({ INTERN_KEEPALIVE_MS: "300" })

async function newIntern(apiKey: string, model: string): Promise<string> {
  const made = await world.gateway.post(apiKey, "/interns", { name: "ada", model, provision: true })
  expect(made.status).toBe(201)
  return ((await made.json()) as { id: string }).id
}

const prompt = (text: string) => ({ stream: true, session_id: "s", messages: [{ role: "user", content: text }] })

test("a client that leaves while its intern is silent is noticed by a keepalive, and its turn is cancelled", async () => {
  const { apiKey } = await world.gateway.newOrganization()
  const silent = world.upstream.expect({ pieces: ["One", " moment"], ending: "silent" })
  const internId = await newIntern(apiKey, newModel())
  const path = `/interns/${internId}/chat/completions`
  const client = await eventually(async () => {
    const one = askForStream(world.gateway.url, apiKey, prompt(silent.id), undefined, path)
    await eventually(() => expect(one.body() + (one.header("content-type") ?? "")).not.toBe(""))
    expect(one.header("content-type")).toContain("event-stream")
    return one
  })
  await eventually(() => expect(client.body()).toContain("moment"))
  await eventually(() => expect(client.body()).toContain(": keepalive\n\n"))
  client.leave()
  await eventually(() => expect(silent.closed).toBe(true))
  const next = world.upstream.expect({ pieces: ["There", " again"], reportsUsage: true })
  await eventually(async () => {
    const answer = await world.gateway.post(apiKey, path, prompt(next.id))
    const text = await answer.text()
    expect(answer.status, text).toBe(200)
    expect(text).toContain(" again")
  })
})

test("a client that leaves during a silent command is noticed by a keepalive, and the command stops", async () => {
  const { apiKey } = await world.gateway.newOrganization()
  const working = world.upstream.expect({ pieces: [], command: "sleep 90; echo late > late.txt", reportsUsage: true })
  const path = `/interns/${await newIntern(apiKey, newModel())}/chat/completions`
  const client = askForStream(world.gateway.url, apiKey, prompt(working.id), undefined, path)
  await eventually(() => expect(working.closed).toBe(true))
  client.leave()
  const next = world.upstream.expect({ pieces: ["Free", " again"], reportsUsage: true })
  await eventually(async () => {
    const answer = await world.gateway.post(apiKey, path, prompt(next.id))
    const text = await answer.text()
    expect(answer.status, text).toBe(200)
    expect(text).toContain(" again")
  })
})

test("an intern outlives its runtime", async () => {
  const { apiKey } = await world.gateway.newOrganization()
  const internId = await newIntern(apiKey, newModel())
  await world.gateway.killRuntime()
  const path = `/interns/${internId}/chat/completions`
  const said = world.upstream.expect({ pieces: ["Still", " here"], reportsUsage: true })
  await eventually(async () => {
    const answer = await world.gateway.post(apiKey, path, prompt(said.id))
    const text = await answer.text()
    expect(answer.status, text).toBe(200)
    expect(text).toContain(" here")
  })
})
