import { describe, expect, test } from "vitest"
import { api } from "../../src/app/app.ts"
import { describeApi } from "../../src/http/openapi.ts"
import { isOfOperator, newWorkspace, operatorClient } from "../support/world.ts"

type Operation = {
  operationId: string
  summary?: string
  tags?: string[]
  parameters?: { name: string; in: string; required?: boolean; schema?: { const?: string; enum?: string[] } }[]
  requestBody?: { content: Record<string, { example?: unknown }> }
  responses: Record<string, unknown>
}

const { paths } = describeApi(api) as unknown as { paths: Record<string, Record<string, Operation>> }
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
)

test("every operation has a unique id, a summary of one line and one tag", () => {
  const faulty = operations.filter(
    ({ operationId, summary = "", tags = [] }) =>
      !operationId || !summary || summary.includes("\n") || tags.length !== 1,
  )
  expect(faulty.map(({ method, path }) => `${method} ${path}`)).toEqual([])
  const ids = operations.map(({ operationId }) => operationId)
  expect(new Set(ids).size).toBe(ids.length)
  const tags = new Set(operations.flatMap(({ tags = [] }) => tags))
  expect([...tags].filter((tag) => !/^[A-Z]/.test(tag))).toEqual([])
})

const withBody = operations.flatMap((operation) => {
  const json = operation.requestBody?.content["application/json"]
  return json ? [{ ...operation, example: json.example }] : []
})

test("every JSON body has an example", () => {
  const lacking = withBody.filter(({ example }) => example === undefined)
  expect(lacking.map(({ operationId }) => operationId)).toEqual([])
})

/** The session routes of the console are not part of the API. */
const ofTheApi = withBody.filter(({ path }) => !path.startsWith("/console/"))

/** Path parameters of no record: the response is 404, after the body was read. */
const PARAMETERS: Readonly<Record<string, string>> = {
  interval: "monthly",
  slug: "example",
  name: "github_token",
  version: "1",
  hash: "0".repeat(64),
}

describe("the example of", () => {
  test.each(ofTheApi.map((operation) => [operation.operationId, operation] as const))(
    "%s is accepted, with a documented status",
    async (_, { method, path, parameters = [], example, responses }) => {
      const workspace = await newWorkspace()
      const filled = path.replaceAll(/\{(\w+)\}/g, (__, name: string) => PARAMETERS[name] ?? crypto.randomUUID())
      const client = isOfOperator(`${method} ${path}`)
        ? operatorClient
        : /^\/(chat|responses|messages|embeddings|rerank|moderations|images|audio|videos|estimate|key)/.test(path)
          ? workspace.as
          : workspace.manage
      const query = parameters
        .filter((one) => one.in === "query" && one.required)
        .map(({ name, schema }) => `${name}=${schema?.const ?? schema?.enum?.[0] ?? ""}`)
      const response = await client.call(method, [filled, ...query].join("?"), example)
      const text = await response.text()
      expect(Object.keys(responses), text).toContain(String(response.status))
      expect([400, 413, 415, 422, 500, 503], text).not.toContain(response.status)
    },
  )
})
