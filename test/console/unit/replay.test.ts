import { expect, test } from "vitest"
import { replayOf } from "../../../src/console/pages/playground/replay.ts"

test("a logged conversation is replayed with its system prompt, its turns and its last question", () => {
  expect(
    replayOf([
      { role: "system", content: "Be brief." },
      { role: "user", content: "One?" },
      { role: "assistant", content: "1" },
      { role: "user", content: [{ type: "text", text: "Two?" }, { type: "image_url" }] },
    ]),
  ).toEqual({ system: "Be brief.", turns: [{ text: "One?", reply: "1" }], prompt: "Two?\n[attachment]" })
})

test("tool calls and their results are left out of a replayed turn", () => {
  expect(
    replayOf([
      { role: "user", content: "Weather?" },
      { role: "assistant", content: null },
      { role: "tool", content: "rain" },
      { role: "assistant", content: "It rains." },
      { role: "user", content: "And" },
      { role: "user", content: "tomorrow?" },
    ]),
  ).toEqual({ system: "", turns: [{ text: "Weather?", reply: "It rains." }], prompt: "And\ntomorrow?" })
})

test("a call without logged content is replayed as an empty conversation", () => {
  expect(replayOf([])).toEqual({ system: "", turns: [], prompt: "" })
})
