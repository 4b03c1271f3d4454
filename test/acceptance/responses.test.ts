import type { ResponseFunctionToolCall } from "openai/resources/responses/responses"
import { beforeAll, describe, expect, test } from "vitest"
import { newOrganization, openai, openrouter, type Organization } from "./world.ts"

let organization: Organization

beforeAll(async () => {
  organization = await newOrganization()
})

const tool = {
  type: "function" as const,
  name: "weather",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  strict: null,
}
const image = { type: "input_image" as const, detail: "auto" as const, image_url: "data:image/png;base64,iVBORw0KGgo=" }

/** The cases that implementers of the Responses format agree on. */
describe("openai: responses", () => {
  test("basic", async () => {
    const response = await openai(organization.apiKey).responses.create({ model: "sim/echo", input: "Hello" })
    expect(response).toMatchObject({ status: "completed", output_text: "Hello" })
    expect(response.usage?.total_tokens).toBeGreaterThan(0)
  })

  test("streaming", async () => {
    const stream = openai(organization.apiKey).responses.stream({ model: "sim/echo", input: "Hello, world" })
    let deltas = ""
    stream.on("response.output_text.delta", ({ delta }) => (deltas += delta))
    const final = await stream.finalResponse()
    expect([deltas, final.output_text]).toEqual(["Hello, world", "Hello, world"])
  })

  test("system prompt", async () => {
    const input = [
      { role: "developer" as const, content: "Be brief." },
      { role: "user" as const, content: "Hello" },
    ]
    const response = await openai(organization.apiKey).responses.create({
      model: "sim/echo",
      instructions: "Echo.",
      input,
    })
    expect(response).toMatchObject({ output_text: "Hello", instructions: "Echo." })
  })

  test("tool calling, streamed or not, and the turn after", async () => {
    const client = openai(organization.apiKey)
    const request = { model: "sim/tool-call", input: "Paris", tools: [tool] }
    const nonStreamed = await client.responses.create(request)
    const streamed = await client.responses.stream(request).finalResponse()
    for (const response of [nonStreamed, streamed]) {
      const call = response.output.find((item) => item.type === "function_call") as ResponseFunctionToolCall | undefined
      expect(call).toMatchObject({ name: "weather", arguments: '{"city":"Paris"}', status: "completed" })
      const answer = await client.responses.create({
        ...request,
        input: [
          { role: "user", content: "Paris" },
          ...(call ? [call] : []),
          {
            type: "function_call_output",
            call_id: call?.call_id ?? "",
            output: "sunny",
          },
        ],
      })
      expect(answer.output_text).toBe("The tool answered: sunny")
    }
  })

  test("image input and multi-turn", async () => {
    const client = openai(organization.apiKey)
    const first = await client.responses.create({
      model: "sim/echo",
      input: [{ role: "user", content: [{ type: "input_text", text: "Look" }, image] }],
    })
    expect(first.output_text).toBe("Look")
    const second = await client.responses.create({
      model: "sim/echo",
      input: [
        { role: "user", content: "Look" },
        { role: "assistant", content: first.output_text },
        { role: "user", content: "Again" },
      ],
    })
    expect(second.output_text).toBe("Again")
  })

  test("a provider that fails in the middle ends in response.failed", async () => {
    const types: string[] = []
    for await (const event of await openai(organization.apiKey).responses.create({
      model: "sim/cut",
      input: "Hi",
      stream: true,
    })) {
      types.push(event.type)
    }
    expect(types.at(-1)).toBe("response.failed")
  })
})

test("@openrouter/sdk: responses parse strictly, non-streamed and streamed", async () => {
  const client = openrouter(organization.apiKey)
  for (const model of ["sim/echo", "sim/reasoning", "sim/refusal"]) {
    const nonStreamed = await client.responses.send({ responsesRequest: { model, input: "Hello" } })
    expect(JSON.stringify(nonStreamed)).toContain("completed")
    const types: string[] = []
    const stream = await client.responses.send({ responsesRequest: { model, input: "Hello", stream: true } })
    for await (const event of stream as AsyncIterable<{ type: string }>) types.push(event.type)
    expect(types.at(-1)).toBe("response.completed")
    expect(types.filter((type) => /unknown/i.test(type))).toEqual([])
  }
})
