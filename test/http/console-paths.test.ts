import { readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import { expect, expectTypeOf, test } from "vitest"
import type * as z from "zod"
import { api } from "../../src/app/app.ts"
import type {
  Directory as ShownDirectory,
  InternSchedule as ShownSchedule,
  InternSession as ShownSession,
} from "../../src/console/api/account-types.ts"
import type { InternSchedule, InternSession } from "../../src/interns/endpoints/session-schemas.ts"
import type { Session as ShownLogin } from "../../src/console/api/types.ts"
import { describeApi } from "../../src/http/openapi.ts"
import type { Directory } from "../../src/scim/schemas.ts"
import type { Session } from "../../src/sessions/schemas.ts"

const root = path.join(import.meta.dirname, "../../src/console")

/** Functions of the console whose first argument is a path of the API. */
const READERS = /\b(?:api|call|useGet|useAll|useSearch|readAll|readByCursor)(?:<[^;]*?>)?\(/g

/** The arguments of a call that begin at `start`, to its closing parenthesis. */
function argumentsFrom(source: string, start: number): string {
  let depth = 1
  let end = start
  for (; end < source.length && depth > 0; end++) {
    if (source[end] === "(") depth += 1
    if (source[end] === ")") depth -= 1
  }
  return source.slice(start, end - 1)
}

type Use = { file: string; methods: string[]; path: string }

function usesIn(file: string): Use[] {
  const source = readFileSync(path.join(root, file), "utf8")
  return [...source.matchAll(READERS)].flatMap((match) => {
    const given = argumentsFrom(source, match.index + match[0].length)
    const literal = /^[^"'`;{]*(?:may\("[^"]*"\)[^"'`;{]*)?(["`])(\/[^"`]*)\1/.exec(given)?.[2]
    if (literal === undefined) return []
    const methods = [...given.matchAll(/"(POST|PUT|PATCH|DELETE)"/g)].map(([, method = ""]) => method.toLowerCase())
    return [{ file, methods: methods.length === 0 ? ["get"] : methods, path: literal }]
  })
}

/** A variable of a template is one segment, or two: names of models contain a slash. A query is omitted. */
function patternOf(text: string): RegExp {
  const [withoutQuery = ""] = text.split("?")
  const segments = withoutQuery
    .replaceAll(/\$\{[^{}]*\}/g, "\0")
    .replace(/([^/])\0$/, "$1")
    .replaceAll(/[.*+()[\]]/g, String.raw`\$&`)
  return new RegExp(`^${segments.replaceAll("\0", String.raw`[^/]+(?:/\{[^/]+\})?`)}$`)
}

test("every path that the console calls is an operation of the OpenAPI document", () => {
  const { paths = {} } = describeApi(api)
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((file) => /\.tsx?$/.test(file))
  // The document itself is not in the document.
  const uses = files.flatMap(usesIn).filter(({ path: used }) => used !== "/openapi.json")
  expect(uses.length).toBeGreaterThan(80)
  const unknown = uses.filter(({ methods, path: used }) => {
    const pattern = patternOf(used)
    const matching = Object.entries(paths).filter(([name]) => pattern.test(name))
    return !methods.every((method) => matching.some(([, operations]) => method in operations))
  })
  expect(unknown).toEqual([])
})

test("types that the console writes by hand have fields of the API only", () => {
  expectTypeOf<z.infer<typeof Directory>>().toExtend<ShownDirectory>()
  expectTypeOf<InternSession>().toExtend<ShownSession>()
  expectTypeOf<z.infer<typeof InternSchedule>>().toExtend<ShownSchedule>()
  expectTypeOf<z.infer<typeof Session>>().toExtend<ShownLogin>()
})
