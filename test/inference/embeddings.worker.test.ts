import { describe, expect, onTestFinished, test } from "vitest"
import { mockProvider } from "../support/mock-provider.ts"
import { newWorkspace, receiptOf, expectJson } from "../support/world.ts"

type Answer = {
  object: string
  model: string
  data: { object: string; index: number; embedding: number[] & string }[]
  usage: object
}
type Failure = { error: { message: string } }

const send = async (body: Record<string, unknown>) =>
  (await newWorkspace()).as.post("/embeddings", { model: "sim/embed", ...body })
const cosine = (a: number[], b: number[]) => a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0)

describe("embeddings", () => {
  test("texts with common words are closer than texts without", async () => {
    const input = ["the cat sat on the mat", "the cat on the mat", "quarterly revenue grew"]
    const { data, object } = await expectJson<Answer>(200, send({ input }))
    const [cat, alike, other] = data.map(({ embedding }) => embedding)
    expect(object).toBe("list")
    expect(data.map(({ index }) => index)).toEqual([0, 1, 2])
    expect(cosine(cat ?? [], alike ?? [])).toBeGreaterThan(cosine(cat ?? [], other ?? []) + 0.3)
  })

  test("base64 holds the same floats", async () => {
    const floats = await expectJson<Answer>(200, send({ input: "Hi", dimensions: 8 }))
    const packed = await expectJson<Answer>(200, send({ input: "Hi", dimensions: 8, encoding_format: "base64" }))
    const bytes = Uint8Array.from(atob(packed.data[0]?.embedding ?? ""), (char) => char.charCodeAt(0))
    expect([...new Float32Array(bytes.buffer)]).toEqual(floats.data[0]?.embedding)
    expect(floats.data[0]?.embedding).toHaveLength(8)
  })

  test.each([
    [undefined, [0.5, -2]],
    ["float", [0.5, -2]],
    ["base64", "AAAAPwAAAMA="],
  ])("have the requested encoding %s, whichever the provider sends", async (encoding, expected) => {
    for (const embedding of [[0.5, -2], "AAAAPwAAAMA="]) {
      const { stop } = mockProvider(() => Response.json({ data: [{ embedding }], usage: { prompt_tokens: 1 } }))
      onTestFinished(stop)
      const answer = send({ model: "pooled/vectors", input: "Hi", encoding_format: encoding })
      expect((await expectJson<Answer>(200, answer)).data).toEqual([
        { object: "embedding", index: 0, embedding: expected },
      ])
      stop()
    }
  })

  test.each([
    ["a string", "Hi"],
    ["strings", ["Hi", "you"]],
    ["token ids", [1, 2]],
    ["lists of token ids", [[1, 2], [3]]],
  ])("%s are accepted", async (_, input) => {
    await expectJson(200, send({ input }))
  })

  test("charges the prompt and records the call as embeddings", async () => {
    const workspace = await newWorkspace()
    const response = await workspace.as.post("/embeddings", { model: "sim/embed", input: "x".repeat(40) })
    const { usage } = await expectJson<Answer>(200, response)
    expect(usage).toMatchObject({ prompt_tokens: 10, total_tokens: 10, cost: 0.000001 })
    expect(await receiptOf(workspace, response)).toMatchObject({
      api_type: "embeddings",
      tokens_prompt: 10,
      tokens_completion: 0,
      total_cost: 0.000001,
    })
  })

  test.each([
    [{}, "input"],
    [{ input: "" }, "input"],
    [{ input: [] }, "input"],
    [{ input: [3, -1] }, "input"],
    [{ input: "x", dimensions: 0 }, "dimensions"],
    [{ input: "x", encoding_format: "hex" }, "encoding_format"],
    [{ input: "x", model: undefined }, "model"],
  ])("%j is rejected with a message that names %s", async (body, field) => {
    const { error } = await expectJson<Failure>(400, send(body))
    expect(error.message.startsWith(field), error.message).toBe(true)
  })

  test("a chat model returns 404 on /embeddings, and an embedding model 404 on /chat/completions", async () => {
    const workspace = await newWorkspace()
    const chat = await expectJson<Failure>(404, workspace.as.post("/embeddings", { model: "sim/echo", input: "x" }))
    expect(chat.error.message).toContain("makes text")
    const embed = await expectJson<Failure>(404, workspace.as.chat("sim/embed", "x"))
    expect(embed.error.message).toContain("makes embeddings")
  })

  test("GET /embeddings/models lists embedding models, GET /models does not", async () => {
    const workspace = await newWorkspace()
    const ids = async (path: string) =>
      (await expectJson<{ data: { id: string }[] }>(200, workspace.as.get(path))).data.map(({ id }) => id)
    expect(await ids("/embeddings/models")).toContain("sim/embed")
    expect(await ids("/embeddings/models")).not.toContain("sim/echo")
    expect(await ids("/models")).not.toContain("sim/embed")
  })

  test("GET /embeddings/models has 0 as the context length of a model whose length is not known", async () => {
    const workspace = await newWorkspace()
    type Listed = { id: string; context_length: unknown }
    const { data } = await expectJson<{ data: Listed[] }>(200, workspace.as.get("/embeddings/models"))
    const lengths = new Map(data.map(({ id, context_length: length }) => [id, length]))
    expect(lengths.get("pooled/vectors-of-any-length")).toBe(0)
    expect(lengths.get("sim/embed")).toBeGreaterThan(0)
  })
})
