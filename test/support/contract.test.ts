import { expect, test } from "vitest"
import { type Document, operationsOf } from "../fuzz/document.ts"
import { Contract, envelopeFaults } from "./contract.ts"

const document: Document = {
  components: { schemas: { Thing: { type: "object", properties: { id: { type: "string" } }, required: ["id"] } } },
  paths: {
    "/things": {
      get: {
        responses: {
          200: {
            content: {
              "application/json": { schema: { $ref: "#/components/schemas/Thing" } },
              "text/event-stream": { schema: { $ref: "#/components/schemas/Thing" } },
              "audio/*": {},
            },
          },
        },
      },
    },
  },
}
const operations = operationsOf(document)
const faultsOf = (contentType: string, text: string, status = 200) =>
  operations.flatMap((operation) =>
    new Contract(document, operations).faults(operation, { status, contentType, text, isComplete: true }),
  )

test.each([
  ["a body that matches its schema", "application/json; charset=utf-8", '{"id":"a"}'],
  ["events that match their schema", "text/event-stream", ': a\n\ndata: {"id":"a"}\n\ndata: [DONE]\n\n'],
  ["a type of a documented range", "audio/wav", "RIFF"],
])("%s is in the document", (_, contentType, text) => {
  expect(faultsOf(contentType, text)).toEqual([])
})

test.each([
  ["a body without a required field", "application/json", "{}", 200],
  ["a body that is not JSON", "application/json", "{", 200],
  ["an event without a required field", "text/event-stream", 'data: {"id":"a"}\n\ndata: {"id":7}\n\n', 200],
  ["an event that is not JSON", "text/event-stream", "data: {\n\n", 200],
  ["another content type", "text/html", "<p>", 200],
  ["another status", "application/json", '{"id":"a"}', 201],
])("%s is a fault", (_, contentType, text, status) => {
  expect(faultsOf(contentType, text, status)).toHaveLength(1)
})

test("an error without the envelope or with another code is a fault", () => {
  const body = (error: unknown) => ({ status: 404, text: JSON.stringify({ error }) })
  expect(envelopeFaults("/api/v1/things", body({ code: 404, message: "Gone." }))).toEqual([])
  expect(envelopeFaults("/api/v1/messages", body({ type: "not_found_error", message: "Gone." }))).toEqual([])
  expect(envelopeFaults("/api/v1/things", body({ code: 400, message: "Gone." }))).toHaveLength(1)
  expect(envelopeFaults("/api/v1/things", body("Gone."))).toHaveLength(1)
})
