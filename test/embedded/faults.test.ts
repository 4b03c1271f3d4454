import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { generateChoice, pad, toPieces } from "../../src/embedded/choice.ts"
import { toChatRequest, type ChatRequest } from "../../src/embedded/chat-request.ts"
import { newCompletion } from "../../src/embedded/completion.ts"
import { failureStatuses } from "../../src/embedded/statuses.ts"
import { play, splitCharacters, streamSteps } from "../../src/embedded/stream.ts"
import { chatEncoder } from "../../src/embedded/formats/chat.ts"
import { estimatePromptTokens, estimateTokens } from "../../src/support/tokens.ts"
import { request, chunksOf, contentOf, document, events, read, stream, user } from "./request.ts"

const output = "Repeat after me."
const padded = pad(output, 20)
const streamed = { stream: true, stream_options: { include_usage: true } }

describe("a status model", () => {
  test.each(failureStatuses.map((status) => [status]))("returns %i in OpenAI's shape", async (status) => {
    for (const more of [{}, { stream: true }]) {
      const refused = await request(`status-${status}`, output, more)
      expect(refused.status).toBe(status)
      const { error } = (await refused.json()) as { error: { message: string; type: string; code: unknown } }
      expect(error).toEqual({ message: expect.any(String), type: expect.any(String), param: null, code: error.code })
    }
  })

  test("status-401 repeats the key", async () => {
    expect(await (await request("status-401", output)).text()).toContain("Bearer sk-upstream")
  })

  test.each(["status-429", "status-503"])("%s sends retry-after as seconds, date and milliseconds", async (model) => {
    const [seconds, date, ms] = await Promise.all(
      ["", ":date", ":ms"].map((variant) => request(model + variant, output)),
    )
    expect(seconds?.headers.get("retry-after")).toBe("2")
    const aheadMs = Date.parse(date?.headers.get("retry-after") ?? "") - Date.now()
    expect(aheadMs).toBeGreaterThan(0)
    expect(aheadMs).toBeLessThanOrEqual(2_000)
    expect(ms?.headers.get("retry-after-ms")).toBe("1500")
    expect(ms?.headers.has("retry-after")).toBe(false)
  })

  test("status-500 sends no retry-after", async () => {
    expect((await request("status-500", output)).headers.has("retry-after")).toBe(false)
  })
})

describe("a faulty stream", () => {
  test("empty has the right type and no bytes", async () => {
    const body = await request("empty", output, { stream: true })
    expect([body.status, body.headers.get("content-type"), await body.text()]).toEqual([
      200,
      "text/event-stream; charset=utf-8",
      "",
    ])
    const complete = await request("empty", output)
    expect([complete.status, complete.headers.get("content-type"), await complete.text()]).toEqual([
      200,
      "application/json",
      "",
    ])
  })

  test("html responds with a page instead of events", async () => {
    const page = await request("html", output, { stream: true })
    expect(page.headers.get("content-type")).toMatch(/^text\/html/)
    expect(await page.text()).toContain("Service portal")
  })

  const overloaded = { error: { message: "The model is overloaded.", type: "server_error", code: 503 } }

  test("first-frame-error sends an error as its only frame", async () => {
    const { text } = await read(await request("first-frame-error", output, streamed))
    expect(text).toBe(`data: ${JSON.stringify(overloaded)}\n\n`)
  })

  test("late-error sends an error after ten chunks and nothing after it", async () => {
    const frames = events((await read(await request("late-error", output, streamed))).text)
    expect(frames).toHaveLength(12)
    expect(
      contentOf(
        chunksOf(
          frames
            .slice(0, 11)
            .map((data) => `data: ${data}`)
            .join("\n"),
        ),
      ),
    ).toBe(padded.slice(0, 40))
    expect(JSON.parse(frames[11] ?? "")).toEqual(overloaded)
  })

  test.each(["first-frame-error", "late-error"])("%s as a document is an error with status 200", async (model) => {
    const complete = await request(model, output)
    expect([complete.status, await complete.json()]).toEqual([200, overloaded])
  })

  test("cut breaks in the middle of an event", async () => {
    const { text, broke } = await read(await request("cut", output, streamed))
    const frames = text.split("\n\n")
    expect(broke).toBe(true)
    expect(contentOf(chunksOf(frames.slice(0, 11).join("\n\n")))).toBe(padded.slice(0, 40))
    expect(frames).toHaveLength(12)
    expect(frames[11]).toMatch(/^data: \{"id"/)
    expect(() => JSON.parse(frames[11]?.slice(6) ?? "")).toThrow()
  })

  test("cut as a document breaks in its middle", async () => {
    const { text, broke } = await read(await request("cut", output))
    expect(broke).toBe(true)
    expect(text).toMatch(/^\{"id"/)
    expect(() => JSON.parse(text)).toThrow()
  })

  test("cut still breaks inside an event when a limit ends it early", async () => {
    const { text, broke } = await read(await request("cut", output, { ...streamed, max_tokens: 3 }))
    expect(broke).toBe(true)
    expect(text.split("\n\n")).toHaveLength(5)
  })

  test("no-done finishes with usage but without [DONE]", async () => {
    const { text, broke } = await read(await request("no-done", output, streamed))
    expect(broke).toBe(false)
    expect(text).not.toContain("[DONE]")
    expect(chunksOf(text).at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: toPieces(padded).length } })
  })
})

describe("usage in vendor shapes", () => {
  const counts = {
    prompt_tokens: estimatePromptTokens(user(output)),
    completion_tokens: estimateTokens(padded),
    total_tokens: estimatePromptTokens(user(output)) + estimateTokens(padded),
  }

  test("no-usage never has any", async () => {
    expect(await document("no-usage", output)).not.toHaveProperty("usage")
    expect((await stream("no-usage", output)).some((chunk) => "usage" in chunk)).toBe(false)
  })

  test("zero-usage is zero for real output", async () => {
    const zero = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
    expect((await document("zero-usage", output)).usage).toEqual(zero)
    const chunks = await stream("zero-usage", output)
    expect(chunks.at(-1)?.usage).toEqual(zero)
    expect(contentOf(chunks)).toBe(padded)
  })

  test("odd-usage is on a choice after the finish, with unknown keys", async () => {
    const chunks = await stream("odd-usage", output)
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe("stop")
    expect(chunks.at(-1)?.choices).toEqual([{ index: 0, delta: {}, finish_reason: null }])
    expect(chunks.at(-1)?.usage).toMatchObject(counts)
    expect((await document("odd-usage", output)).usage).toEqual({
      ...counts,
      billing_units: expect.any(Number),
      queue_time: expect.any(Number),
    })
  })

  test("cached-tokens reports half of the prompt as cached", async () => {
    const expected = {
      ...counts,
      prompt_tokens_details: { cached_tokens: Math.floor(counts.prompt_tokens / 2) },
      completion_tokens_details: { reasoning_tokens: 0 },
    }
    expect((await document("cached-tokens", output)).usage).toEqual(expected)
    expect((await stream("cached-tokens", output)).at(-1)?.usage).toEqual(expected)
  })

  test("null-usage is null on every chunk before the last, as is the fingerprint", async () => {
    const chunks = await stream("null-usage", output)
    for (const chunk of chunks.slice(0, -1)) expect(chunk).toMatchObject({ usage: null, system_fingerprint: null })
    expect(chunks.at(-1)?.usage).toEqual(counts)
  })
})

describe("malformed framing", () => {
  test("bare-chunks lacks required fields until the finish", async () => {
    const chunks = await stream("bare-chunks", output)
    for (const chunk of chunks.slice(0, -2)) {
      expect(Object.keys(chunk)).toEqual(["id", "model", "choices"])
      expect(Object.keys(chunk.choices[0] ?? {})).toEqual(["index", "delta"])
    }
    expect(chunks.at(-2)).toMatchObject({ object: "chat.completion.chunk", choices: [{ finish_reason: "stop" }] })
    expect(contentOf(chunks)).toBe(padded)
  })

  test("crlf ends every line with CRLF", async () => {
    const { text } = await read(await request("crlf", output, streamed))
    expect(text.replaceAll("\r\n", "")).not.toMatch(/[\r\n]/)
    expect(contentOf(chunksOf(text))).toBe(padded)
  })

  test("comments has comments before, between and inside events", async () => {
    const { text } = await read(await request("comments", output, streamed))
    expect(text).toMatch(/^: ping\n\n: ping\ndata: .*\n: ping\n\n: ping\n\n: ping\ndata: /)
    expect(contentOf(chunksOf(text))).toBe(padded)
  })

  test("byte-chunks sends one byte at a time", async () => {
    for (const more of [{}, streamed]) {
      const { text, chunks } = await read(await request("byte-chunks", output, more))
      expect(chunks.every((chunk) => chunk.length === 1)).toBe(true)
      expect(text).toContain(padded.slice(0, 4))
    }
  })

  test("split-utf8 splits characters across writes without losing any", async () => {
    const expected = pad(`héllo wörld 🌍 日本語 ${output}`, 20)
    const { text, chunks } = await read(await request("split-utf8", output, streamed))
    expect(contentOf(chunksOf(text))).toBe(expected)
    const broken = chunks.filter((chunk) => new TextDecoder().decode(chunk).includes("\ufffd"))
    expect(broken.length).toBeGreaterThan(6)
    expect(contentOf([await document("split-utf8", output)])).toBe(expected)
  })

  test.each([
    ["ascii", 1],
    ["é", 2],
    ["日本", 3],
    ["a🌍b", 2],
  ])("%s is written in %i parts", (text, parts) => {
    const bytes = new TextEncoder().encode(text)
    const split = splitCharacters(bytes)
    expect(split).toHaveLength(parts)
    expect(split.flatMap((part) => [...part])).toEqual([...bytes])
  })
})

describe("timing", () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  test("slow delays its headers for six seconds", async () => {
    let answered = false
    const slow = request("slow", output).then((response) => ((answered = true), response))
    await vi.advanceTimersByTimeAsync(5_999)
    expect(answered).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(contentOf([await (await slow).json()])).toBe(output)
  })

  test("slow stops waiting when the client disconnects", async () => {
    const principal = new AbortController()
    const slow = request("slow", output, {}, { signal: principal.signal })
    await vi.advanceTimersByTimeAsync(100)
    principal.abort()
    await slow
    expect(vi.getTimerCount()).toBe(0)
  })

  test("paced sends a hundred tokens at fifty a second", () => {
    const steps = [...pacedSteps()]
    const waits = steps.flatMap((step) => (step.type === "wait" ? [step.untilMs] : []))
    expect(waits.slice(0, 3)).toEqual([20, 40, 60])
    expect(waits).toHaveLength(generateChoice(toRequest("paced"), "").parts.length)
    expect(waits.length).toBeGreaterThanOrEqual(100)
    expect(generateChoice(toRequest("paced", { max_tokens: 7 }), "").parts).toHaveLength(7)
  })

  test("a wait ends on time, and is cancelled when the client disconnects", async () => {
    const reader = play(pacedSteps(), new AbortController().signal).getReader()
    await reader.read()
    let pieces = 0
    const first = reader.read().then(() => pieces++)
    await vi.advanceTimersByTimeAsync(19)
    expect(pieces).toBe(0)
    await vi.advanceTimersByTimeAsync(1)
    await first
    const second = reader.read()
    await vi.advanceTimersByTimeAsync(1)
    expect(vi.getTimerCount()).toBe(1)
    await reader.cancel()
    expect((await second).done).toBe(true)
    expect(vi.getTimerCount()).toBe(0)
  })

  test.each([
    ["stream", streamed, 11],
    ["document", {}, 1],
  ])("stall keeps a %s open without data until the client disconnects", async (_, more, reads) => {
    const body = (await request("stall", output, more)).body
    const reader = (body as ReadableStream<Uint8Array>).getReader()
    let done = 0
    const reading = (async () => {
      while (!(await reader.read()).done) done++
    })()
    await vi.advanceTimersByTimeAsync(24 * 3_600_000)
    expect(done).toBe(reads)
    expect(vi.getTimerCount()).toBe(1)
    await reader.cancel()
    await reading
    expect(vi.getTimerCount()).toBe(0)
  })

  function pacedSteps() {
    const completion = newCompletion(toRequest("paced"), 0)
    return streamSteps(completion, chatEncoder(completion))
  }

  function toRequest(model: string, more: object = {}): ChatRequest {
    return toChatRequest({ model, messages: user(output), ...more }) as ChatRequest
  }
})
