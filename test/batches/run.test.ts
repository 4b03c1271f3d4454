import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { parseInput } from "../../src/batches/input.ts"
import { type LineResult, toLineResult, tokensOf, withoutResponse } from "../../src/batches/result.ts"
import {
  CONCURRENCY,
  type LineQueue,
  type LineRun,
  MAX_ATTEMPTS,
  recoverInterrupted,
  runLines,
} from "../../src/batches/run.ts"

const SUCCESS: LineResult = {
  isSuccess: true,
  response: { status_code: 200, request_id: "r", body: {} },
  error: null,
}
const RETRYABLE: LineResult = { ...withoutResponse("unavailable", "Retry."), retryAfterMs: 0 }

type Entry = LineRun & { state: "pending" | "running" | "done"; dueAt: number }

/** The queue in memory. It outlives the isolate: after `die` the calls of the former isolate write nothing. */
class Disk {
  readonly entries: Entry[]
  readonly results = new Map<number, LineResult[]>()
  generation = 0

  constructor(lines: number) {
    this.entries = Array.from({ length: lines }, (_, line) => ({
      line,
      customId: String(line),
      offset: 0,
      length: 0,
      attempt: 0,
      state: "pending" as const,
      dueAt: 0,
    }))
  }

  queue(): LineQueue {
    const own = this.generation
    const write = (run: () => void) => {
      if (own === this.generation) run()
    }
    const set = (line: number, change: Partial<Entry>) => Object.assign(this.entries[line] ?? {}, change)
    return {
      take: (now) => {
        const entry = this.entries.find(({ state, dueAt }) => state === "pending" && dueAt <= now)
        if (!entry || own !== this.generation) return undefined
        return Object.assign(entry, { state: "running", attempt: entry.attempt + 1 })
      },
      retry: ({ line }, dueAt) => write(() => set(line, { state: "pending", dueAt })),
      defer: ({ line, attempt }, dueAt) => write(() => set(line, { state: "pending", dueAt, attempt: attempt - 1 })),
      finish: ({ line }, result) =>
        write(() => {
          set(line, { state: "done" })
          this.results.set(line, [...(this.results.get(line) ?? []), result])
        }),
      interruptedLines: () => this.entries.filter(({ state }) => state === "running"),
    }
  }
}

describe("the requests of a batch", () => {
  test("run until each has one result, whenever the isolate dies and whatever fails", async () => {
    const plan = fc.record({
      lines: fc.integer({ min: 0, max: 30 }),
      // The number of runs after which each isolate dies.
      deaths: fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 4 }),
      failures: fc.array(fc.integer({ min: 0, max: 29 }), { maxLength: 20 }),
    })
    await fc.assert(
      fc.asyncProperty(plan, async ({ lines, deaths, failures }) => {
        const disk = new Disk(lines)
        const failing = [...failures]
        const runs = new Map<number, number>()
        const interruptedRuns = new Map<number, number>()
        const failed = new Map<number, number>()
        let [now, inFlight, most] = [0, 0, 0]
        for (const death of [...deaths, Number.POSITIVE_INFINITY]) {
          for (;;) {
            const queue = disk.queue()
            recoverInterrupted(queue, now)
            let left = death
            await runLines({
              queue,
              run: async ({ line }) => {
                expect(disk.results.has(line), "a finished line runs again").toBe(false)
                runs.set(line, (runs.get(line) ?? 0) + 1)
                most = Math.max(most, ++inFlight)
                await Promise.resolve()
                inFlight--
                if (--left === 0) {
                  disk.generation++
                  for (const entry of disk.entries.filter(({ state }) => state === "running")) {
                    interruptedRuns.set(entry.line, (interruptedRuns.get(entry.line) ?? 0) + 1)
                  }
                }
                const at = failing.indexOf(line)
                if (at < 0 || left <= 0) return SUCCESS
                failing.splice(at, 1)
                failed.set(line, (failed.get(line) ?? 0) + 1)
                return RETRYABLE
              },
              now: () => now,
              mayStart: () => left > 0,
              onStep: () => Promise.resolve(),
              expiresAt: Number.POSITIVE_INFINITY,
            })
            if (left <= 0) break
            const waiting = disk.entries.filter(({ state }) => state === "pending")
            if (waiting.length === 0) break
            now = Math.min(...waiting.map(({ dueAt }) => dueAt))
          }
        }
        expect(most).toBeLessThanOrEqual(CONCURRENCY)
        for (const { line } of disk.entries) {
          expect(disk.results.get(line)).toHaveLength(1)
          const repeats = (interruptedRuns.get(line) ?? 0) + (failed.get(line) ?? 0)
          expect(runs.get(line)).toBeLessThanOrEqual(Math.min(MAX_ATTEMPTS, 1 + repeats))
        }
      }),
    )
  })

  test("that would be retried after the window ends fail with their last result", async () => {
    const disk = new Disk(1)
    const ports = { queue: disk.queue(), now: () => 0, mayStart: () => true, onStep: () => Promise.resolve() }
    await runLines({ ...ports, run: () => Promise.resolve({ ...RETRYABLE, retryAfterMs: 5_000 }), expiresAt: 5_000 })
    expect(disk.results.get(0)).toHaveLength(1)
  })
})

test("at a rate limit pause the batch without using an attempt", async () => {
  const disk = new Disk(20)
  let now = 0
  let runs = 0
  // Two requests a minute.
  const started: number[] = []
  const run = (): Promise<LineResult> => {
    runs++
    const recent = started.filter((at) => at > now - 60_000)
    const limited = { ...withoutResponse("rate", "Wait."), retryAfterMs: 60_000, isRateLimited: true } as const
    if (recent.length >= 2) return Promise.resolve(limited)
    started.push(now)
    return Promise.resolve(SUCCESS)
  }
  const ports = { run, now: () => now, mayStart: () => true, onStep: () => Promise.resolve(), expiresAt: 1e9 }
  while (disk.results.size < 20) now = Math.max(now + 1, await runLines({ ...ports, queue: disk.queue() }))
  expect([...disk.results.values()].every((results) => results[0]?.isSuccess)).toBe(true)
  expect(runs).toBeLessThanOrEqual(20 + 10 * CONCURRENCY)
})

describe("a result", () => {
  test.each([
    [429, {}, 0],
    [429, { "retry-after": "7" }, 7_000],
    [503, {}, 0],
    [402, {}, undefined],
    [400, {}, undefined],
    [200, {}, undefined],
  ])("with status %i and headers %j is retried after %s", (status, headers, expected) => {
    expect(toLineResult(status, new Headers(headers), "{}").retryAfterMs).toBe(expected)
  })

  test("marked as final by the gateway is not retried", () => {
    const body = JSON.stringify({ error: { metadata: { retryable: false } } })
    expect(toLineResult(503, new Headers(), body).retryAfterMs).toBeUndefined()
  })

  test("of a rate limit pauses the batch, unless the request can never fit", () => {
    const body = (retryable: boolean) =>
      JSON.stringify({ error: { metadata: { reason: "key_rate_limit", retryable } } })
    expect(toLineResult(429, new Headers(), body(true)).isRateLimited).toBe(true)
    expect(toLineResult(429, new Headers(), body(false)).isRateLimited).toBeUndefined()
  })

  test.each([
    [{ prompt_tokens: 3, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 1 } }, [3, 4, 1]],
    [{ input_tokens: 3, output_tokens: 4, input_tokens_details: { cached_tokens: 1 } }, [3, 4, 1]],
    [{ input_tokens: 3, output_tokens: 4, cache_read_input_tokens: 2 }, [3, 4, 2]],
    [undefined, [0, 0, 0]],
  ])("counts the tokens of %j", (usage, expected) => {
    const { inputTokens, outputTokens, cachedTokens } = tokensOf(
      toLineResult(200, new Headers(), JSON.stringify({ usage })),
    )
    expect([inputTokens, outputTokens, cachedTokens]).toEqual(expected)
  })
})

test("byte offsets of lines are right however the file is chunked", async () => {
  const texts = fc.array(fc.string({ unit: "grapheme", maxLength: 20 }), { minLength: 1, maxLength: 10 })
  await fc.assert(
    fc.asyncProperty(texts, fc.integer({ min: 1, max: 40 }), async (contents, size) => {
      const requests = contents.map((content, at) =>
        JSON.stringify({ custom_id: `c${at}`, method: "POST", url: "/v1/embeddings", body: { input: content } }),
      )
      const bytes = new TextEncoder().encode(requests.join("\n"))
      async function* chunks() {
        for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size)
      }
      const { lines, errors } = await parseInput(chunks(), "/v1/embeddings")
      expect(errors).toEqual([])
      const read = lines.map(({ offset, length }) => new TextDecoder().decode(bytes.slice(offset, offset + length)))
      expect(read).toEqual(requests)
    }),
  )
})
