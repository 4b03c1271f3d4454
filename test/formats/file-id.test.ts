import { describe, expect, test } from "vitest"
import { isGatewayFileId } from "../../src/formats/file-id.ts"
import { MessagesRequest } from "../../src/formats/messages/schemas.ts"
import { ResponsesRequest } from "../../src/formats/responses/schemas.ts"
import { ChatRequest } from "../../src/formats/schemas.ts"

const STORED_FILE = "file_01a2163c-fc20-7618-9719-996a15d8768f"
const OF_PROVIDERS = ["file-6F2ksmvXxt4VdoqmHRw6kL", "file_011CNha8iCJcU1wXNR6q4V8w", "files/abc-123"]

const user = (part: object) => [{ role: "user", content: [part] }]
const parts: [string, (id: string) => { success: boolean }][] = [
  [
    "messages[0].content[0].file.file_id",
    (id) => ChatRequest.safeParse({ model: "m", messages: user({ type: "file", file: { file_id: id } }) }),
  ],
  ...["input_file", "input_image"].map((type): (typeof parts)[number] => [
    "input[0].content[0].file_id",
    (id) => ResponsesRequest.safeParse({ model: "m", input: user({ type, file_id: id }) }),
  ]),
  ...["document", "image"].map((type): (typeof parts)[number] => [
    "messages[0].content[0].source.file_id",
    (id) =>
      MessagesRequest.safeParse({
        model: "m",
        max_tokens: 1,
        messages: user({ type, source: { type: "file", file_id: id } }),
      }),
  ]),
]

describe.each(parts)("the file of a content part: %s", (_, parse) => {
  test("from the gateway's storage is accepted", () => {
    expect(parse(STORED_FILE).success).toBe(true)
    expect(isGatewayFileId(STORED_FILE)).toBe(true)
  })

  test.each(OF_PROVIDERS)("from a provider is accepted: %s", (id) => {
    expect(parse(id).success).toBe(true)
    expect(isGatewayFileId(id)).toBe(false)
  })
})
