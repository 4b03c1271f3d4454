import { expect } from "vitest"
import type { ResponsesEvent } from "../../../src/formats/responses/schemas.ts"
import { finalOf } from "./events-of.ts"

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
    const deltasOf = (type: string) =>
      events
        .filter((event) => event.type === `response.${type}.delta` && event["output_index"] === at)
        .map((event) => event["delta"])
        .join("")
    const textOf = (parts: unknown, key: string) =>
      ((parts ?? []) as Record<string, string>[]).map((part) => part[key] ?? "").join("")
    expect(deltasOf("output_text")).toBe(item.type === "message" ? textOf(item["content"], "text") : "")
    expect(deltasOf("refusal")).toBe(textOf(item["content"], "refusal"))
    expect(deltasOf("reasoning_text")).toBe(item.type === "reasoning" ? textOf(item["content"], "text") : "")
    expect(deltasOf("reasoning_summary_text")).toBe(textOf(item["summary"], "text"))
    expect(deltasOf("function_call_arguments")).toBe(item["arguments"] ?? "")
  }
}
