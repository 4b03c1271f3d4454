import { expect } from "vitest"
import type { ResponsesEvent } from "../../../src/formats/responses/schemas.ts"
import { finalOf } from "./asked.ts"

/** Invariants of every stream. */
export function expectWellFormed(events: readonly ResponsesEvent[]): void {
  expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, at) => at))
  const added = events.filter(({ type }) => type === "response.output_item.added")
  const done = events.filter(({ type }) => type === "response.output_item.done")
  expect(added.map((event) => event["output_index"])).toEqual(added.map((_, at) => at))
  expect(done.map((event) => event["output_index"]).sort()).toEqual(added.map((event) => event["output_index"]).sort())
  const { output } = finalOf(events)
  for (const event of done) expect(event["item"]).toEqual(output[event["output_index"] as number])
  expect(new Set(output.map((item) => item["id"])).size).toBe(output.length)
  for (const [at, item] of output.entries()) {
    const saying = (type: string) =>
      events
        .filter((event) => event.type === `response.${type}.delta` && event["output_index"] === at)
        .map((event) => event["delta"])
        .join("")
    const wordsOf = (parts: unknown, key: string) =>
      ((parts ?? []) as Record<string, string>[]).map((part) => part[key] ?? "").join("")
    expect(saying("output_text")).toBe(item.type === "message" ? wordsOf(item["content"], "text") : "")
    expect(saying("refusal")).toBe(wordsOf(item["content"], "refusal"))
    expect(saying("reasoning_text")).toBe(item.type === "reasoning" ? wordsOf(item["content"], "text") : "")
    expect(saying("reasoning_summary_text")).toBe(wordsOf(item["summary"], "text"))
    expect(saying("function_call_arguments")).toBe(item["arguments"] ?? "")
  }
}
