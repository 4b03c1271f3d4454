import { describe, expect, test } from "vitest"
import { isPlainChat } from "../../src/formats/chat/plain-request.ts"
import { providerStorageIn } from "../../src/inference/upstream/provider-storage.ts"

const messages = [{ role: "user", content: "Hi" }]

describe("a request names something stored at a provider", () => {
  test.each([
    [
      "messages[0].content[0]",
      { messages: [{ role: "user", content: [{ type: "file", file: { file_id: "file-1" } }] }] },
    ],
    ["input[0].content[0]", { input: [{ role: "user", content: [{ type: "input_image", file_id: "file-1" }] }] }],
    [
      "messages[0].content[0]",
      { messages: [{ role: "user", content: [{ type: "document", source: { type: "file", file_id: "file_011" } }] }] },
    ],
    ["messages[0].content[0]", { messages: [{ role: "user", content: [{ type: "container_upload", file_id: "f" }] }] }],
    ["tools[0].vector_store_ids", { tools: [{ type: "file_search", vector_store_ids: ["vs_1"] }] }],
    ["tools[1].container", { tools: [{ type: "function" }, { type: "code_interpreter", container: "cntr_1" }] }],
    [
      "tools[0].container.file_ids",
      { tools: [{ type: "code_interpreter", container: { type: "auto", file_ids: ["file-1"] } }] },
    ],
    [
      "tools[0].environment.container_id",
      { tools: [{ type: "shell", environment: { type: "container_reference", container_id: "cntr_1" } }] },
    ],
    [
      "tools[0].environment.skills[0].skill_id",
      { tools: [{ type: "shell", environment: { type: "container_auto", skills: [{ skill_id: "skill_1" }] } }] },
    ],
    [
      "tools[0].input_image_mask.file_id",
      { tools: [{ type: "image_generation", input_image_mask: { file_id: "f" } }] },
    ],
    ["tools[0].collection_ids", { tools: [{ type: "collections_search", collection_ids: ["c"] }] }],
    ["cached_content", { messages, cached_content: "cachedContents/1" }],
    ["extra_body.google.cached_content", { messages, extra_body: { google: { cached_content: "cachedContents/1" } } }],
    ["input_reference.file_id", { prompt: "waves", input_reference: { file_id: "file-1" } }],
    ["images[0].file_id", { prompt: "a dot", images: [{ file_id: "file-1" }] }],
  ])("%s", (path, request) => {
    expect(providerStorageIn(request)).toBe(path)
  })
})

describe("a request names nothing stored at a provider", () => {
  test.each([
    ["a conversation", { messages }],
    [
      "data of a file",
      { input: [{ role: "user", content: [{ type: "input_file", file_data: "data:;base64,YQ==" }] }] },
    ],
    [
      "a schema of the client's tool",
      { tools: [{ type: "function", parameters: { properties: { file_id: { type: "string" } } } }] },
    ],
    [
      "arguments of a tool call",
      { messages: [{ role: "assistant", tool_calls: [{ function: { arguments: '{"file_id":"f"}' } }] }] },
    ],
    [
      "a result of an earlier call",
      { input: [{ type: "code_interpreter_call", id: "ci_1", container_id: "cntr_1", code: "1" }] },
    ],
    [
      "citations of an earlier response",
      {
        input: [
          {
            role: "assistant",
            content: [{ type: "output_text", text: "Hi", annotations: [{ type: "file_citation", file_id: "file-1" }] }],
          },
        ],
      },
    ],
    ["a new container", { tools: [{ type: "code_interpreter", container: { type: "auto", file_ids: [] } }] }],
    ["metadata", { messages, metadata: { file_id: "1" } }],
  ])("%s", (_, request) => {
    expect(providerStorageIn(request)).toBeUndefined()
  })
})

test("options that name a cached prompt leave the hot path", () => {
  const request = { model: "acme/chat-1", messages, stream: false }
  expect(isPlainChat({ ...request })).toBe(true)
  for (const name of ["cached_content", "cachedContent", "extra_body", "google"]) {
    expect(isPlainChat({ ...request, [name]: { cached_content: "cachedContents/1" } })).toBe(false)
  }
})
