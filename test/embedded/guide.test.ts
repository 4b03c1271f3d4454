import { readdirSync } from "node:fs"
import path from "node:path"
import { expect, test } from "vitest"
import { documents } from "../../src/embedded/guide/documents.ts"
import { guide } from "../../src/embedded/guide/guide.ts"
import { toSections } from "../../src/embedded/guide/sections.ts"

test("the guide includes every page of the documentation", () => {
  const names = readdirSync(path.join(import.meta.dirname, "../../docs"), { recursive: true, encoding: "utf8" })
  const pages = names.filter((name) => name.endsWith(".md") && !name.startsWith("decisions"))
  expect(documents.map((one) => one.path).sort()).toEqual(["README.md", ...pages.map((name) => `docs/${name}`)].sort())
})

test.each([
  ["How do I add my OpenAI key?", "OPENAI_API_KEY"],
  ["Which environment variable sets the master key?", "MASTER_KEY"],
  ["How do I rotate the master key?", "rotate"],
  ["How can I run it on one machine with Docker?", "docker"],
  ["What does a guardrail do with streamed output?", "guardrail"],
  ["How do I see logs of calls?", "LOG_CALLS"],
  ["How are prices set?", "price"],
])("%s", (question, word) => {
  expect(guide(question).text.toLowerCase()).toContain(word.toLowerCase())
})

test("an answer names its source and that it is not from a language model", () => {
  const { text, sources } = guide("How do I add my OpenAI key?")
  expect(sources[0]).toMatch(/^(?:README|docs\/[\w-]+)\.md#/)
  expect(text).toContain(`Source: ${sources[0]}`)
  expect(text).toContain("not a language model")
})

test("an unrelated question gets no answer", () => {
  const { text, sources } = guide("zxqv wjkp")
  expect(sources).toEqual([])
  expect(text).toContain("I found nothing about that")
})

test("a comment in a code block is not a heading", () => {
  const [section, ...others] = toSections("a.md", "# Title\n\nText\n\n```sh\n# a comment\nls\n```\n")
  expect(others).toEqual([])
  expect(section).toMatchObject({ id: "a.md#title", title: "Title" })
})
