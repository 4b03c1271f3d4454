import { expect, test } from "vitest"
import { newWorkspace, readStream } from "../support/world.ts"

const QUESTION = "How do I rotate the master key?"

test("embedded/guide responds through the gateway free of charge, as JSON and as a stream", async () => {
  const { as } = await newWorkspace()
  type Chat = { choices: { message: { content: string } }[]; usage: { cost: number } }
  const messages = [{ role: "user", content: QUESTION }]
  const complete = (await (await as.post("/chat/completions", { model: "embedded/guide", messages })).json()) as Chat
  expect(complete.choices[0]?.message.content).toContain("rotate-master-key")
  expect(complete.usage.cost).toBe(0)
  const { chunks } = await readStream(as.post("/chat/completions", { model: "embedded/guide", messages, stream: true }))
  const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")
  expect(text).toBe(complete.choices[0]?.message.content)
})

test("embedded/guide responds with JSON and tool calls on request", async () => {
  const { as } = await newWorkspace()
  const complete = async (content: string, more: object) => {
    const body = { model: "embedded/guide", messages: [{ role: "user", content }], ...more }
    type Chat = { choices: { message: { content: string; tool_calls?: { function: { name: string } }[] } }[] }
    const { choices } = (await (await as.post("/chat/completions", body)).json()) as Chat
    return choices[0]?.message
  }
  const json = await complete(QUESTION, { response_format: { type: "json_object" } })
  expect(JSON.parse(json?.content ?? "")).toMatchObject({ answer: expect.any(String), sources: expect.any(Array) })
  const tool = { type: "function", function: { name: "open_page", parameters: { type: "object", properties: {} } } }
  const called = await complete("Use open_page for the docs", { tools: [tool] })
  expect(called?.tool_calls?.[0]?.function.name).toBe("open_page")
  expect((await complete(QUESTION, { tools: [tool] }))?.content).toContain("rotate-master-key")
})
