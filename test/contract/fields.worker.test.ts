import { describe, expect, test } from "vitest"
import { newWorkspace } from "../support/world.ts"
import { chatRows, type FieldRow } from "./rows/field.ts"
import { expectRejection } from "./rejection.ts"
import { responsesRows } from "./rows/response-field.ts"

const CHAT = { model: "sim/echo", messages: [{ role: "user", content: "Hi" }] }
const RESPONSES = { model: "sim/echo", input: "Hi" }

const tables: [path: string, valid: object, rows: readonly FieldRow[]][] = [
  ["/chat/completions", CHAT, chatRows],
  ["/responses", RESPONSES, responsesRows],
]

describe.each(tables)("POST %s", (path, valid, rows) => {
  test.each(rows.map((row) => [row.promise, row] as const))("%s", async (_, { accepts = [], refuses = [] }) => {
    const { as } = await newWorkspace()
    for (const fields of accepts) {
      const response = await as.post(path, { ...valid, ...fields })
      expect(response.status, `${JSON.stringify(fields)}: ${await response.text()}`).toBe(200)
    }
    for (const fields of refuses)
      await expectRejection(400, as.post(path, { ...valid, ...fields }), JSON.stringify(fields))
  })
})
