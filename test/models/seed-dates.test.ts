import { expect, test } from "vitest"
import { datesOf } from "../../src/dev/build/seed-dates.ts"

const database = {
  anthropic: { models: { "claude-opus-4-5": { release_date: "2025-11-24", knowledge: "2025-03" } } },
  xai: { models: { "grok-9": { release_date: "2026-02", knowledge: "2024-02" } } },
  openrouter: {
    models: {
      "anthropic/claude-opus-4.5": { release_date: "1999-01-01" },
      "acme/rocket": { release_date: "2026-01-02", knowledge: "2025-12-31" },
      "acme/prophet": { release_date: "2025-01-15", knowledge: "2025-06" },
      "acme/vague": { release_date: "2026", knowledge: "soon" },
    },
  },
}
const seconds = (day: string) => Date.parse(day) / 1_000

test.each([
  ["anthropic/claude-opus-4.5", seconds("2025-11-24"), "2025-03-31"],
  ["x-ai/grok-9", seconds("2026-02-01"), "2024-02-29"],
  ["acme/rocket", seconds("2026-01-02"), "2025-12-31"],
  ["acme/rocket:free", seconds("2026-01-02"), "2025-12-31"],
  ["acme/prophet", seconds("2025-01-15"), null],
  ["acme/vague", 0, null],
  ["acme/unknown", 0, null],
])("%s was created at %i and has the knowledge cutoff %s", (id, created, cutoff) => {
  expect(datesOf(id, database)).toEqual({ created, knowledge_cutoff: cutoff })
})
