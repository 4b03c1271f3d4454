import * as fc from "fast-check"
import { expect, test } from "vitest"
import { type FindFile, inlineFiles, MAX_INLINE_BYTES } from "../../src/files/inline.ts"
import { newId } from "../../src/support/ids.ts"

const text = new TextEncoder()

/** Files by id; any other id has no file. */
function filesOf(files: Readonly<Record<string, { mimeType: string; content: string }>>): FindFile {
  return async (id) => {
    const file = files[id]
    if (!file) return undefined
    const bytes = text.encode(file.content)
    return { filename: "f", mimeType: file.mimeType, sizeBytes: bytes.byteLength, read: async () => bytes }
  }
}

/** The content part of each API format that names a file. */
const REFERENCES: Readonly<Record<string, (id: string) => object>> = {
  "chat file": (id) => ({ type: "file", file: { file_id: id } }),
  "responses file": (id) => ({ type: "input_file", file_id: id }),
  "messages document": (id) => ({ type: "document", source: { type: "file", file_id: id } }),
}
const reference = fc.constantFrom(...Object.values(REFERENCES))

test("a request without a file of the gateway is returned unchanged, and no file is looked up", async () => {
  const otherIds = fc.oneof(fc.constant("file-abc123"), fc.constant("file_011CNha8iCJcU1wXNR6q4V8w"), fc.string())
  const parts = fc.array(
    fc.oneof(
      fc.jsonValue(),
      fc.tuple(reference, otherIds).map(([part, id]) => part(id)),
    ),
  )
  const find: FindFile = () => Promise.reject(new Error("looked up"))
  await fc.assert(
    fc.asyncProperty(parts, fc.constantFrom("messages", "input"), fc.jsonValue(), async (content, name, other) => {
      const body = { [name]: [{ role: "user", content }], other, metadata: { file_id: `file_${newId()}` } }
      expect(await inlineFiles(body, find)).toBe(body)
    }),
  )
})

test("each reference is replaced by the content, wherever it is in a conversation, and nothing else changes", async () => {
  const id = `file_${newId()}`
  const marker = "the content of the file"
  const find = filesOf({ [id]: { mimeType: "text/plain", content: marker } })
  const wrap = fc.constantFrom<((part: object) => object)[]>(
    (part) => part,
    (part) => ({ type: "tool_result", tool_use_id: "t", content: [{ type: "text", text: "before" }, part] }),
    (part) => ({ type: "function_call_output", call_id: "c", output: [part] }),
  )
  const parts = fc.array(fc.tuple(reference, wrap, fc.string()), { minLength: 1, maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(parts, fc.constantFrom("messages", "input"), fc.jsonValue(), async (chosen, name, other) => {
      const content = chosen.flatMap(([part, wrapped, words]) => [{ type: "text", text: words }, wrapped(part(id))])
      const body = { model: "a/b", [name]: [{ role: "user", content }], other }
      const before = structuredClone(body)
      const result: object = await inlineFiles(body, find)
      expect(body).toEqual(before)
      const sent = JSON.stringify(result)
      expect(sent).not.toContain(id)
      expect(sent.split(marker).length - 1).toBe(chosen.length)
      const { [name]: conversation, ...rest } = result as Record<string, { content: object[] }[]>
      expect(rest).toEqual({ model: "a/b", other })
      const texts = conversation?.[0]?.content.filter((_, at) => at % 2 === 0)
      expect(texts).toEqual(content.filter((_, at) => at % 2 === 0))
    }),
  )
})

test("data of tool calls that looks like a content part is sent unchanged", async () => {
  const find: FindFile = () => Promise.reject(new Error("looked up"))
  const input = REFERENCES["messages document"]?.(`file_${newId()}`)
  const block = { type: "tool_use", id: "t", name: "archive", input }
  const body = { messages: [{ role: "assistant", content: [block] }], tools: [{ example: [input] }] }
  expect(await inlineFiles(body, find)).toBe(body)
})

test("an image inside a document is replaced", async () => {
  const id = `file_${newId()}`
  const find = filesOf({ [id]: { mimeType: "image/png", content: "png" } })
  const image = { type: "image", source: { type: "file", file_id: id } }
  const block = { type: "document", source: { type: "content", content: [image] } }
  const body = await inlineFiles({ messages: [{ role: "user", content: [block] }] }, find)
  expect(body.messages[0]?.content[0]?.source.content).toEqual([
    { type: "image", source: { type: "base64", media_type: "image/png", data: btoa("png") } },
  ])
})

test("text cannot close the tag of its file", async () => {
  const id = `file_${newId()}`
  const find = filesOf({ [id]: { mimeType: "text/markdown", content: "a</file>b</FILE>c" } })
  const part = { type: "file", file: { file_id: id } }
  const body = await inlineFiles({ messages: [{ role: "user", content: [part] }] }, find)
  expect(body.messages[0]?.content[0]).toEqual({
    type: "text",
    text: '<file name="f">\na&lt;/file>b&lt;/FILE>c\n</file>',
  })
})

test("files that are too large together are rejected before they are read", async () => {
  const id = `file_${newId()}`
  const half = Math.ceil((MAX_INLINE_BYTES + 1) / 2)
  let reads = 0
  const find: FindFile = async () => ({
    filename: "f",
    mimeType: "application/pdf",
    sizeBytes: half,
    read: async () => {
      reads++
      return new Uint8Array(half)
    },
  })
  const bodyOf = (ids: readonly string[]) => ({
    input: [{ role: "user", content: ids.map((one) => ({ type: "input_file", file_id: one })) }],
  })
  await expect(inlineFiles(bodyOf([id, `file_${newId()}`]), find)).rejects.toMatchObject({ code: "payload_too_large" })
  expect(reads).toBe(1)
  await expect(inlineFiles(bodyOf([id, id]), find)).rejects.toMatchObject({ code: "payload_too_large" })
  await expect(inlineFiles(bodyOf(Array.from({ length: 21 }, () => id)), find)).rejects.toMatchObject({
    code: "invalid_request",
  })
})
