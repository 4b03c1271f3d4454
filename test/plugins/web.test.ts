import { describe, expect, test } from "vitest"
import { searchQuery, withResults } from "../../src/plugins/web.ts"
import { toAnnotations } from "../../src/server-tools/citations.ts"
import { toCitations } from "../../src/server-tools/web-search/web-search.ts"
import { NOW } from "../server-tools/mock-network.ts"

const results = [
  { title: "Salt", url: "https://a.example/salt", snippet: "White.", published: "2026-10-01" },
  { title: "Pepper", url: "https://b.example/pepper", snippet: "Black." },
]
const user = (content: unknown) => ({ role: "user", content })

describe("the search query", () => {
  test.each<[string, Record<string, unknown>[], string | undefined]>([
    ["the last user message", [user("one"), { role: "assistant", content: "two" }, user("three")], "three"],
    ["the text parts of it", [user([{ type: "text", text: "one\n\n two" }, { type: "image_url" }, null])], "one two"],
    ["user text before tool results", [user("one"), { role: "assistant" }, { role: "tool", content: "t" }], "one"],
    ["empty without user messages", [{ role: "system", content: "s" }], undefined],
    ["empty for whitespace", [user(" \n ")], undefined],
    ["empty for images", [user([{ type: "image_url" }])], undefined],
  ])("is %s", (_, messages, query) => {
    expect(searchQuery(messages)).toBe(query)
  })

  test("is cut without splitting a character", () => {
    expect(searchQuery([user("word ".repeat(1_000))])?.length).toBeLessThanOrEqual(400)
    for (const start of ["", "x"]) {
      const query = searchQuery([user(start + "😀".repeat(400))])
      expect(query?.isWellFormed()).toBe(true)
      expect(query?.length).toBeGreaterThan(398)
    }
  })
})

describe("search results", () => {
  test("are inserted before the last user message", () => {
    const messages = [
      user("one"),
      { role: "assistant", content: "two" },
      user("three"),
      { role: "assistant", content: "four" },
    ]
    const [first, second, inserted, ...rest] = withResults(messages, results, { nowMs: NOW })
    expect([first, second, ...rest]).toEqual(messages)
    expect(inserted).toMatchObject({ role: "system" })
    expect(inserted?.["content"]).toMatch(/^The web was searched on 2026-11-21\./)
    expect(inserted?.["content"]).toContain(
      "1. Salt\nhttps://a.example/salt\nPublished: 2026-10-01\nWhite.\n\n2. Pepper\nhttps://b.example/pepper\nBlack.",
    )
  })

  test("follow the request's search_prompt if it has one", () => {
    const [inserted] = withResults([user("one")], [], { searchPrompt: "Look:", nowMs: NOW })
    expect(inserted).toEqual({ role: "system", content: "Look:\n\nNothing was found." })
  })

  test("are returned as annotations", () => {
    expect(toAnnotations(toCitations(results))).toEqual(
      results.map(({ title, url, snippet }) => ({
        type: "url_citation",
        url_citation: { url, title, content: snippet, start_index: 0, end_index: 0 },
      })),
    )
  })
})
