import { describe, expect, test } from "vitest"
import * as z from "zod"
import { NewByok } from "../../src/byok/schemas.ts"
import { NewGuardrail } from "../../src/guardrails/schemas.ts"
import { explain, nameText, PageQuery } from "../../src/http/schema.ts"
import { NewApiKey } from "../../src/keys/schemas.ts"
import { NewMcpServer } from "../../src/mcp-servers/schemas.ts"
import { NewMember } from "../../src/members/schemas.ts"
import { NewDestination } from "../../src/observability/schemas.ts"
import { NewOrganization } from "../../src/organizations/schemas.ts"
import { NewService } from "../../src/passthrough/schemas.ts"
import { NewWorkspace } from "../../src/workspaces/schemas.ts"

function messageOf(schema: z.ZodType, value: unknown): string {
  const { error } = z.object({ field: schema }).safeParse({ field: value })
  return explain(error ?? { issues: [] })
}

describe("a limit without a custom message states its rule", () => {
  test.for([
    [z.string().min(9), "bad", "field: must have at least 9 characters."],
    [z.string().min(1), "", "field: must have at least 1 character."],
    [z.string().max(2), "abc", "field: must have at most 2 characters."],
    [z.string().length(2), "abc", "field: must have exactly 2 characters."],
    [z.array(z.string()).max(1), ["a", "b"], "field: must have at most 1 item."],
    [z.number().min(0.5), 0, "field: must be at least 0.5."],
    [z.number().positive(), -1, "field: must be above 0."],
    [z.number().lt(3), 3, "field: must be below 3."],
    [z.int().max(3), 4, "field: must be at most 3."],
    [
      z.record(z.string().max(2), z.string(), "must be texts"),
      { abc: "" },
      "field.abc: this name must have at most 2 characters.",
    ],
    [z.record(z.string().regex(/^a/), z.string(), "must be texts"), { b: "" }, "field.b: must be texts."],
    [
      z.record(z.string().regex(/^a/, "must begin with a"), z.string()),
      { b: "" },
      "field.b: this name must begin with a.",
    ],
  ] as const)("%$", ([schema, value, message]) => {
    expect(messageOf(schema, value)).toBe(message)
  })

  test.for([
    [z.literal("a"), 7, 'field: accepts "a".'],
    [z.literal(false), 7, "field: accepts false."],
    [z.enum(["a", "b"]), "c", 'field: accepts "a", "b".'],
    [z.url(), "x", "field: must be a URL."],
    [z.union([z.array(z.string()).max(1), z.array(z.number())]), ["a", "b"], "field: must have at most 1 item."],
    [
      z.union([z.array(z.string().min(2)), z.array(z.number())]),
      ["ab", "c"],
      "field[1]: must have at least 2 characters.",
    ],
    [z.union([z.object({}), z.array(z.string())]), 7, "field: has none of the accepted forms."],
  ] as const)("as does a fixed value, a format or a union: %$", ([schema, value, message]) => {
    expect(messageOf(schema, value)).toBe(message)
  })

  test("and one with a custom message keeps it", () => {
    expect(messageOf(z.string().max(1, "must be a letter"), "ab")).toBe("field: must be a letter.")
  })
})

describe("the page of a list", () => {
  test.each([
    [{}, { limit: 50, offset: 0 }],
    [
      { limit: "100", offset: "7" },
      { limit: 100, offset: 7 },
    ],
  ])("%j", (query, page) => {
    expect(PageQuery.parse(query)).toEqual(page)
  })

  test.each(["0", "101", "-1", "1.5", "", " 1", "1e1", "0x10", "+1", "1,2", "NaN", "\u0661", ["1", "2"]])(
    "rejects a limit of %j",
    (limit) => {
      expect(messageOf(PageQuery.shape.limit, limit)).toBe("field: must be an integer from 1 to 100.")
    },
  )

  test.each(["-1", "", "0x10", "9".repeat(16), "9".repeat(30)])("rejects an offset of %j", (offset) => {
    expect(messageOf(PageQuery.shape.offset, offset)).toBe("field: must be an integer of at least 0.")
  })
})

describe("a display name", () => {
  test.for([
    ["", "field: must not be blank."],
    [" \u00a0 ", "field: must not be blank."],
    ["two\nlines", "field: must be one line without control characters."],
    ["nul\0", "field: must be one line without control characters."],
    ["gnp.\u202eexe", "field: must be one line without control characters."],
    [7, "field: must be a string."],
  ] as const)("%j is rejected", ([name, message]) => {
    expect(messageOf(nameText(9), name)).toContain(message)
  })

  test.each(["", "  ", "a", " a ", "a\nb", "\u202ea", "\u00a0", "\u007f", "鍵 1", "😀"])(
    "%j fits the pattern in the API document if it is accepted",
    (name) => {
      const { pattern = "" } = z.toJSONSchema(nameText(9))
      expect(new RegExp(pattern, "u").test(name)).toBe(nameText(9).safeParse(name).success)
    },
  )

  test("is stored as sent", () => {
    expect(nameText(9).parse(" a ")).toBe(" a ")
  })

  test("may be in any language", () => {
    for (const name of ["Ключ", "مفتاح", "鍵 1", "Ana's key", "\u200fמפתח"])
      expect(nameText(9).safeParse(name).success, name).toBe(true)
  })

  test.for(
    Object.entries({
      NewApiKey,
      NewByok,
      NewDestination,
      NewGuardrail,
      NewMcpServer,
      NewMember,
      NewOrganization,
      NewService,
      NewWorkspace,
    }),
  )("is one line in %s", ([, schema]) => {
    const name = "a\u202eb"
    const { error } = (schema as z.ZodType).safeParse({ name, first_name: name })
    expect(explain(error ?? { issues: [] })).toMatch(/name: must be one line without control characters/)
  })
})
