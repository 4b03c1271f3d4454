import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { normalizeChunk, normalizeResult } from "../../src/formats/chat/normalize/normalize.ts"
import { newThinkState, withoutThinkTags } from "../../src/formats/chat/normalize/think-tags.ts"
import { isObject, type Json, objectsOf, textIn } from "../../src/support/text/json.ts"

/** The deltas that a client gets for pieces of content. */
function read(pieces: readonly string[], last: Json = {}) {
  const state = newThinkState()
  const deltas = [
    ...pieces.map((content) => withoutThinkTags({ content }, state, false)),
    withoutThinkTags(last, state, true),
  ]
  const joined = (key: string) => deltas.map((delta) => textIn(delta, key)).join("")
  return { deltas, content: joined("content"), reasoning: joined("reasoning") }
}

/** The text in pieces of random lengths. */
const inPieces = (text: string, sizes: readonly number[]) => {
  const pieces: string[] = []
  let at = 0
  for (const size of sizes) {
    pieces.push(text.slice(at, at + size))
    at += size
  }
  return [...pieces, text.slice(at)]
}
const sizes = fc.array(fc.nat(9), { maxLength: 20 })
const withoutTags = fc.string().filter((text) => !text.includes("</think>"))

describe("content that begins with reasoning in tags", () => {
  test("is divided, however it arrives", () => {
    const holds = fc.property(withoutTags, fc.string(), sizes, (reasoning, content, cuts) => {
      const found = read(inPieces(`<think>${reasoning}</think>${content}`, cuts))
      expect(found).toMatchObject({ reasoning, content: content.trimStart() })
    })
    fc.assert(holds)
  })

  test("is reasoning if the stream ends before the closing tag", () => {
    const holds = fc.property(withoutTags, sizes, (reasoning, cuts) => {
      expect(read(inPieces(`<think>${reasoning}`, cuts))).toMatchObject({ reasoning, content: "" })
    })
    fc.assert(holds)
  })

  test("has the same parts in JSON", () => {
    const messageOf = (content: string, finishReason = "stop") => {
      const choice = { message: { content }, finish_reason: finishReason }
      const [normal] = objectsOf(
        normalizeResult({ choices: [choice] }, { id: "", model: "m", created: 1, calls: [] })["choices"],
      )
      return isObject(normal?.["message"]) ? normal["message"] : {}
    }
    expect(messageOf("\n<think>Hm.</think>\n\nHello")).toMatchObject({
      content: "Hello",
      reasoning: "Hm.",
      reasoning_details: [{ type: "reasoning.text", text: "Hm.", index: 0 }],
    })
    expect(messageOf("<think>Hm", "length")).toMatchObject({ content: "", reasoning: "Hm" })
    expect(messageOf("<think>Hm")).toMatchObject({ content: "<think>Hm" })
    expect(messageOf("Use <think>x</think>")).toMatchObject({ content: "Use <think>x</think>" })
  })
})

describe("ordinary content", () => {
  test("is the same", () => {
    const ordinary = fc.string({ minLength: 1 }).filter((text) => !text.trimStart().startsWith("<think>"))
    const holds = fc.property(ordinary, sizes, (text, cuts) => {
      expect(read(inPieces(text, cuts))).toMatchObject({ content: text, reasoning: "" })
    })
    fc.assert(holds)
  })

  test("keeps its deltas, unless they begin as the tag does", () => {
    const [first, second] = [{ content: "Hello <think>" }, { content: "</think>" }]
    const state = newThinkState()
    expect(withoutThinkTags(first, state, false)).toBe(first)
    expect(withoutThinkTags(second, state, false)).toBe(second)
    expect(read(["<", "b>"]).deltas.map(({ content }) => content)).toEqual(["", "<b>", undefined])
    expect(read(["<thi"]).content).toBe("<thi")
  })

  test("after reasoning in another field may have tags", () => {
    const state = newThinkState()
    withoutThinkTags({ reasoning: "Hm." }, state, false)
    const delta = { content: "<think>x</think>" }
    expect(withoutThinkTags(delta, state, false)).toBe(delta)
  })
})

describe("the tags of other models", () => {
  const tags = fc.constantFrom(["thought"], ["thinking"], ["reasoning"], ["seed:think"], ["THINK", "[", "]"])

  test("divide the content as <think> does, however it arrives", () => {
    const text = fc.string().filter((one) => !/[<[]\//.test(one))
    const holds = fc.property(tags, text, text, sizes, ([name, open = "<", close = ">"], reasoning, content, cuts) => {
      const sent = `${open}${name}${close}${reasoning}${open}/${name}${close}${content}`
      expect(read(inPieces(sent, cuts))).toMatchObject({ reasoning, content: content.trimStart() })
    })
    fc.assert(holds)
  })

  test("stay in the content if the prompt has them", () => {
    const content = "<reasoning>Hm.</reasoning>Hello"
    const prompt = { role: "system", content: [{ type: "text", text: "Answer as <reasoning>…</reasoning>…" }] }
    const contentFor = (role: string) => {
      const upstreamBody = { messages: [{ ...prompt, role }] }
      const defaults = { id: "", model: "m", created: 1, calls: [], upstreamBody }
      const [document] = objectsOf(normalizeResult({ choices: [{ message: { content } }] }, defaults)["choices"])
      const thoughts = new Map()
      const chunk = normalizeChunk({ choices: [{ index: 0, delta: { content } }] }, { ...defaults, thoughts })
      const [streamed] = objectsOf(chunk["choices"])
      return [document?.["message"], streamed?.["delta"]].map((part) => (isObject(part) ? part["content"] : undefined))
    }
    expect(contentFor("system")).toEqual([content, content])
    expect(contentFor("user")).toEqual([content, content])
    expect(contentFor("assistant")).toEqual(["Hello", "Hello"])
  })
})
