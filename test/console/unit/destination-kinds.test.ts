import { expect, test } from "vitest"
import * as z from "zod"
import { DESTINATION_KINDS, readHeaders, writeHeaders } from "../../../src/console/pages/settings/destination-kinds.ts"
import { isSecret, KIND_NAMES, KINDS } from "../../../src/observability/kinds.ts"

test.each(KIND_NAMES)("the form of %s has the fields of its configuration, with their types", (kind) => {
  const schema = z.toJSONSchema(KINDS[kind].config, { io: "input" })
  const expected = Object.keys(schema.properties ?? {}).filter((name) => name !== "headers")
  const { fields } = DESTINATION_KINDS[kind]
  expect(fields.map(({ name }) => name).toSorted()).toEqual(expected.toSorted())
  const needed = fields.filter(({ isOptional }) => !isOptional).map(({ name }) => name)
  expect(needed.toSorted()).toEqual((schema.required ?? []).toSorted())
  for (const field of fields) expect(field.isSecret ?? false, field.name).toBe(isSecret(kind, field.name))
})

test("headers are parsed line by line, with colons in their values", () => {
  const headers = { authorization: "Bearer a:b", "x-team": "search" }
  expect(readHeaders(`${writeHeaders(headers)}\n\n`)).toEqual(headers)
})
