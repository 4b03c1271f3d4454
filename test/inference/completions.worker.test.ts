import { afterEach, describe, expect, test } from "vitest"
import { DONE, mockProvider, sse } from "../support/mock-provider.ts"
import {
  expectJson,
  newKey,
  newWorkspace,
  openHolds,
  readStream,
  receiptOf,
  type TestClient,
} from "../support/world.ts"

/** Providers with the legacy format (worker-project.ts): of all prompts, and only of a prompt with a suffix. */
const TEXT_MODEL = "legacy-text/m0"
const FIM_MODEL = "legacy-fim/m0"

let stop = () => {}
afterEach(() => stop())

type Json = Record<string, unknown>
type Completion = {
  id: string
  object: string
  model: string
  choices: { index: number; text: string; finish_reason: string | null; logprobs: Json | null }[]
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number; cost: number }
}
type Failure = { error: { code: number; message: string } }

const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
const COST = 0.00002
const result = (text: string, more: Json = {}) => ({
  id: "cmpl-1",
  object: "text_completion",
  created: 1,
  model: "m0",
  choices: [{ index: 0, text, logprobs: null, finish_reason: "length", ...more }],
  usage: USAGE,
})
const piece = (text: string, finishReason: string | null = null, index = 0) =>
  `data: ${JSON.stringify({ ...result(text), usage: undefined, choices: [{ index, text, logprobs: null, finish_reason: finishReason }] })}\n\n`
const usagePiece = `data: ${JSON.stringify({ ...result(""), choices: [] })}\n\n`

function play(answer: Parameters<typeof mockProvider>[0]) {
  const provider = mockProvider(answer)
  stop = provider.stop
  return provider.upstreamCalls
}

async function chunksOf(answer: Promise<Response>): Promise<{ chunks: Completion[]; response: Response }> {
  const response = await answer
  const raw = await response.clone().text()
  expect(response.status, raw).toBe(200)
  expect(raw.endsWith("data: [DONE]\n\n")).toBe(true)
  const data = [...raw.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json ?? "") as Completion)
  return { chunks: data, response }
}
const textIn = (chunks: readonly Completion[], index = 0) =>
  chunks
    .flatMap(({ choices }) => choices.filter((choice) => choice.index === index))
    .map(({ text }) => text)
    .join("")

describe("a provider with the completions format", () => {
  test("receives the prompt as it is, and its response keeps the format", async () => {
    const workspace = await newWorkspace()
    const calls = play(() => Response.json(result(" Danube, Rhine")))
    const request = {
      model: TEXT_MODEL,
      prompt: "Rivers:",
      max_tokens: 50,
      stop: ["\n"],
      seed: 7,
      logprobs: 2,
      guided_regex: "[a-z]+",
      user: "ann@example.com",
      metadata: { team: "maps" },
    }
    const response = await workspace.as.post("/completions", request)
    const completion = await expectJson<Completion>(200, response.clone())
    expect(completion).toMatchObject({
      object: "text_completion",
      model: TEXT_MODEL,
      choices: [{ index: 0, text: " Danube, Rhine", finish_reason: "length", logprobs: null }],
      usage: { ...USAGE, cost: COST },
    })
    const [{ url, body } = { url: "", body: {} as Json }] = calls
    expect(url).toBe("http://legacy-text.test/v1/completions")
    expect(body).toEqual({
      model: "m0",
      prompt: "Rivers:",
      max_tokens: 50,
      stop: ["\n"],
      seed: 7,
      logprobs: 2,
      guided_regex: "[a-z]+",
      user: expect.not.stringContaining("ann") as string,
      stream: false,
    })
    expect((await receiptOf(workspace, response)).total_cost).toBe(COST)
  })

  test("streams text, and the last chunk has the finish reason and the charged usage", async () => {
    const workspace = await newWorkspace()
    const calls = play(() => sse([piece(" Dan"), piece("ube"), piece("", "stop"), usagePiece, DONE]))
    const { chunks, response } = await chunksOf(
      workspace.as.post("/completions", { model: TEXT_MODEL, prompt: "Rivers:", stream: true }),
    )
    expect(calls[0]?.body).toMatchObject({ stream: true, stream_options: { include_usage: true } })
    expect(textIn(chunks)).toBe(" Danube")
    expect(new Set(chunks.map(({ id, model, object }) => `${id} ${model} ${object}`)).size).toBe(1)
    expect(chunks.at(-1)).toMatchObject({ choices: [{ finish_reason: "stop" }], usage: { ...USAGE, cost: COST } })
    expect(chunks.slice(0, -1).filter(({ usage }) => usage !== undefined)).toEqual([])
    expect((await receiptOf(workspace, response)).total_cost).toBe(COST)
  })

  test("keeps the choices of a stream apart", async () => {
    const workspace = await newWorkspace()
    const pieces = [piece("a", null, 0), piece("x", null, 1), piece("b", "stop", 0), piece("y", "length", 1)]
    play(() => sse([...pieces, usagePiece, DONE]))
    const { chunks } = await chunksOf(
      workspace.as.post("/completions", { model: TEXT_MODEL, prompt: "Rivers:", stream: true, n: 2 }),
    )
    expect([textIn(chunks, 0), textIn(chunks, 1)]).toEqual(["ab", "xy"])
    const ends = chunks.flatMap(({ choices }) => choices.map(({ finish_reason: reason }) => reason)).filter(Boolean)
    expect(ends).toEqual(["stop", "length"])
  })

  test("receives several prompts, each of which is held and charged", async () => {
    const workspace = await newWorkspace()
    const choices = ["a", "b", "c"].map((text, index) => ({ index, text, logprobs: null, finish_reason: "stop" }))
    const calls = play(() => Response.json({ ...result(""), choices }))
    const request = { model: TEXT_MODEL, prompt: ["A", "B", "C"], max_tokens: 1_000 }
    const completion = await expectJson<Completion>(200, workspace.as.post("/completions", request))
    expect(completion.choices.map(({ text }) => text)).toEqual(["a", "b", "c"])
    expect(calls[0]?.body).toMatchObject({ prompt: ["A", "B", "C"] })
    // Three completions of 1,000 tokens do not fit into the limit of this key; one does.
    const poor = await newKey(workspace, { limit: 0.003 })
    await poor.as.post("/completions", { ...request, prompt: "A" })
    expect(calls.at(-1)?.body).toMatchObject({ max_tokens: 1_000 })
    const before = calls.length
    await poor.as.post("/completions", request)
    for (const { body } of calls.slice(before)) expect(body["max_tokens"]).toBeLessThan(1_000)
  })

  test("receives suffix and echo; its log probabilities pass", async () => {
    const workspace = await newWorkspace()
    const logprobs = { tokens: ["a"], token_logprobs: [-0.1], top_logprobs: [{ a: -0.1 }], text_offset: [0] }
    const calls = play(() => Response.json(result("ab", { logprobs })))
    const request = { model: TEXT_MODEL, prompt: ["def f("], suffix: "return x", echo: true, logprobs: 1 }
    const { choices } = await expectJson<Completion>(200, workspace.as.post("/completions", request))
    expect(choices[0]?.logprobs).toEqual(logprobs)
    expect(calls[0]?.body).toMatchObject({ prompt: "def f(", suffix: "return x", echo: true, logprobs: 1 })
  })

  test.each([
    ["best_of", { best_of: 20 }],
    ["n_predict", { n_predict: 99_999 }],
  ])("generates no more than the hold covers: %s", async (field, more) => {
    const workspace = await newWorkspace()
    const calls = play(() => Response.json(result("x")))
    const response = await workspace.as.post("/completions", { model: TEXT_MODEL, prompt: "x", max_tokens: 9, ...more })
    expect([400, 200]).toContain(response.status)
    for (const { body } of calls) expect(body).not.toHaveProperty(field)
  })

  test("a stream that ends early is charged for what was delivered, and ends with an error", async () => {
    const workspace = await newWorkspace()
    play(() => sse([piece("four"), new Error("reset")]))
    const { chunks, response } = await chunksOf(
      workspace.as.post("/completions", { model: TEXT_MODEL, prompt: "Rivers:", stream: true }),
    )
    const last = chunks.at(-1) as unknown as Failure & Completion
    expect(last).toMatchObject({ object: "text_completion", error: { code: 502 } })
    expect(Object.keys(last)[0]).toBe("error")
    expect(last.choices[0]?.finish_reason).toBe("error")
    const receipt = await receiptOf(workspace, response)
    expect(receipt.tokens_from).toBe("estimate")
    expect(receipt.total_cost).toBeGreaterThan(0)
    expect(await openHolds(workspace)).toEqual([])
  })
})

describe("a provider that fills in the middle", () => {
  test("receives a prompt with a suffix in its format, and may respond in the chat format", async () => {
    const workspace = await newWorkspace()
    const message = { role: "assistant", content: "x: int" }
    const calls = play(() =>
      Response.json({ id: "f", choices: [{ index: 0, message, finish_reason: "stop" }], usage: USAGE }),
    )
    const request = { model: FIM_MODEL, prompt: "def f(", suffix: "): return x", max_tokens: 20 }
    const { choices, usage } = await expectJson<Completion>(200, workspace.as.post("/completions", request))
    expect(choices).toMatchObject([{ text: "x: int", finish_reason: "stop" }])
    expect(usage.cost).toBe(COST)
    expect(calls[0]?.url).toBe("http://legacy-fim.test/v1/fim/completions")
    expect(calls[0]?.body).toMatchObject({ prompt: "def f(", suffix: "): return x" })
  })

  test("receives a prompt without a suffix as a chat", async () => {
    const workspace = await newWorkspace()
    const message = { role: "assistant", content: "Hi" }
    const calls = play(() => Response.json({ choices: [{ index: 0, message, finish_reason: "stop" }], usage: USAGE }))
    await expectJson(200, workspace.as.post("/completions", { model: FIM_MODEL, prompt: "Hello" }))
    expect(calls[0]?.url).toBe("http://legacy-fim.test/v1/chat/completions")
    expect(calls[0]?.body).toMatchObject({ messages: [{ role: "user", content: "Hello" }] })
    expect(calls[0]?.body).not.toHaveProperty("prompt")
  })
})

describe("POST /fim/completions", () => {
  const request = { model: FIM_MODEL, prompt: "def f(", suffix: "): return x", max_tokens: 20, random_seed: 7 }

  test("responds with a chat completion of the code between prompt and suffix", async () => {
    const workspace = await newWorkspace()
    const message = { role: "assistant", content: "x: int" }
    const calls = play(() =>
      Response.json({ id: "f", choices: [{ index: 0, message, finish_reason: "stop" }], usage: USAGE }),
    )
    const response = await workspace.as.post("/fim/completions", request)
    expect(await response.json()).toMatchObject({
      object: "chat.completion",
      model: FIM_MODEL,
      choices: [{ index: 0, message, finish_reason: "stop" }],
      usage: { ...USAGE, cost: COST },
    })
    expect((await receiptOf(workspace, response)).total_cost).toBe(COST)
    expect(calls[0]?.url).toBe("http://legacy-fim.test/v1/fim/completions")
    expect(calls[0]?.body).toMatchObject({ prompt: "def f(", suffix: "): return x", max_tokens: 20, seed: 7 })
    expect(calls[0]?.body).not.toHaveProperty("random_seed")
  })

  test("streams chat chunks, also of a provider with text completions", async () => {
    const workspace = await newWorkspace()
    play(() => sse([piece("x: "), piece("int"), piece("", "stop"), usagePiece, DONE]))
    const body = { ...request, model: TEXT_MODEL, stream: true }
    const { chunks, done } = await readStream(workspace.as.post("/fim/completions", body))
    expect(done).toBe(true)
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe("x: int")
    expect(chunks.every(({ object }) => object === "chat.completion.chunk")).toBe(true)
    expect(chunks.at(-1)?.usage?.cost).toBe(COST)
  })

  test.each([
    [{ prompt: ["a", "b"] }, "prompt: must be a string"],
    [{ prompt: undefined }, "prompt"],
    [{ echo: true }, "echo: is a field of /completions"],
    [{ random_seed: "x" }, "random_seed"],
    [{ messages: [] }, "messages"],
  ])("%j is rejected with 400 and a message that begins with %s", async (change, start) => {
    const workspace = await newWorkspace()
    const { error } = await expectJson<Failure>(400, workspace.as.post("/fim/completions", { ...request, ...change }))
    expect(error.message.startsWith(start), error.message).toBe(true)
  })
})

describe("any other provider", () => {
  test("receives the prompt as a message of the user, with log probabilities in its format", async () => {
    const workspace = await newWorkspace()
    const logprobs = {
      content: [
        { token: "A", logprob: -0.1, bytes: [65], top_logprobs: [{ token: "A", logprob: -0.1, bytes: [65] }] },
        { token: " b", logprob: -0.2, bytes: [32, 98], top_logprobs: [] },
      ],
    }
    const message = { role: "assistant", content: "A b" }
    const calls = play(() =>
      Response.json({ choices: [{ index: 0, message, finish_reason: "stop", logprobs }], usage: USAGE }),
    )
    const request = { model: "played/m0", prompt: "Hello", logprobs: 1 }
    const { choices } = await expectJson<Completion>(200, workspace.as.post("/completions", request))
    expect(calls[0]?.body).toMatchObject({
      messages: [{ role: "user", content: "Hello" }],
      logprobs: true,
      top_logprobs: 1,
    })
    expect(choices).toEqual([
      {
        index: 0,
        text: "A b",
        finish_reason: "stop",
        logprobs: {
          tokens: ["A", " b"],
          token_logprobs: [-0.1, -0.2],
          top_logprobs: [{ A: -0.1 }, {}],
          text_offset: [0, 1],
        },
      },
    ])
  })

  test.each(["suffix", "echo"])("is not called with %s, which the chat format cannot express", async (field) => {
    const workspace = await newWorkspace()
    const calls = play(() => Response.json(result("x")))
    const request = { model: "played/m0", prompt: "Hello", [field]: field === "echo" ? true : "end" }
    const { error } = await expectJson<Failure>(400, workspace.as.post("/completions", request))
    expect(error.message).toMatch(new RegExp(`^${field}: needs a provider with the completions format`))
    expect(calls).toEqual([])
  })

  test("sends reasoning apart from the text", async () => {
    const workspace = await newWorkspace()
    const message = { role: "assistant", content: "4", reasoning: "2 and 2" }
    play(() => Response.json({ choices: [{ index: 0, message, finish_reason: "stop" }], usage: USAGE }))
    const { choices } = await expectJson<Completion>(
      200,
      workspace.as.post("/completions", { model: "played/m0", prompt: "2+2=" }),
    )
    expect(choices).toMatchObject([{ text: "4", reasoning: "2 and 2" }])
  })
})

describe("a request that the format does not have", () => {
  test.each([
    [{ prompt: undefined }, "prompt"],
    [{ prompt: ["a", "b"] }, "prompt: several prompts need a provider with the completions format"],
    [{ prompt: [] }, "prompt"],
    [{ prompt: [1, 2] }, "prompt"],
    [{ messages: [{ role: "user", content: "x" }] }, "messages"],
    [{ tools: [] }, "tools"],
    [{ tool_choice: "auto" }, "tool_choice"],
    [{ best_of: 3 }, "best_of"],
    [{ logprobs: 21 }, "logprobs"],
    [{ max_tokens: 0 }, "max_tokens"],
    [{ max_completion_tokens: "many" }, "max_completion_tokens"],
    [{ temperature: 3 }, "temperature"],
  ])("%j is rejected with 400 and a message that names %s", async (change, field) => {
    const workspace = await newWorkspace()
    const request = { model: "sim/echo", prompt: "Hi", ...change }
    const { error } = await expectJson<Failure>(400, workspace.as.post("/completions", request))
    expect(error.message.startsWith(field), error.message).toBe(true)
  })
})

describe("guardrails of a text completion", () => {
  const guardrail = (action: string) => ({
    name: "no ann",
    content_filters: [{ pattern: "ann@example\\.com", action }],
  })

  async function guarded(action: string): Promise<TestClient> {
    const workspace = await newWorkspace()
    const { data } = await expectJson<{ data: { id: string } }>(
      201,
      workspace.manage.post("/guardrails", guardrail(action)),
    )
    const { as, hash } = await newKey(workspace)
    await expectJson(200, workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, { key_hashes: [hash] }))
    return as
  }

  test.each(["prompt", "suffix"])("a blocked text in %s reaches no provider", async (field) => {
    const as = await guarded("block")
    const calls = play(() => Response.json(result("x")))
    const request = { model: TEXT_MODEL, prompt: "Hi", [field]: "mail ann@example.com" }
    await expectJson(403, as.post("/completions", request))
    expect(calls).toEqual([])
  })

  test("a redacted prompt reaches the provider in its format, and the response is redacted", async () => {
    const as = await guarded("redact")
    const calls = play(() =>
      sse([piece("write to ann@exa"), piece("mple.com now"), piece("", "stop"), usagePiece, DONE]),
    )
    const { chunks } = await chunksOf(
      as.post("/completions", { model: TEXT_MODEL, prompt: "mail ann@example.com", suffix: "end", stream: true }),
    )
    expect(calls[0]?.url).toBe("http://legacy-text.test/v1/completions")
    expect(calls[0]?.body).toMatchObject({ suffix: "end" })
    expect(calls[0]?.body["prompt"]).not.toContain("ann@example.com")
    expect(textIn(chunks)).not.toContain("ann@example.com")
    expect(textIn(chunks)).toMatch(/^write to .* now$/)
  })
})

test("a preset fills fields and its instructions precede the prompt", async () => {
  const workspace = await newWorkspace()
  const preset = { model: TEXT_MODEL, temperature: 0.25, system_prompt: "Be brief." }
  await expectJson(200, workspace.manage.post("/presets/brief/chat/completions", preset))
  const calls = play(() => Response.json(result("x")))
  await expectJson(200, workspace.as.post("/completions", { model: "@preset/brief", prompt: "Rivers:" }))
  expect(calls[0]?.body).toMatchObject({ model: "m0", temperature: 0.25, prompt: "Be brief.\n\nRivers:" })
})
