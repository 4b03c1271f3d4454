import { describe, expect, test } from "vitest"
import { BASE_PATH } from "../../src/http/paths.ts"
import { client, expectJson } from "../support/world.ts"

type Schema = { properties?: Record<string, { deprecated?: boolean }> }
type Parameter = { name: string; schema: { minimum?: number; maximum?: number; default?: number } }
type Operation = { deprecated?: boolean; description?: string; parameters?: Parameter[] }
type Document = {
  info: { version: string }
  servers: { url: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

const read = () => expectJson<Document>(200, client().get("/openapi.json"))

test("the interface is version 1.0.0, under a base path that ends in /api/v1", async () => {
  const { info, servers } = await read()
  expect(info.version).toBe("1.0.0")
  expect(BASE_PATH).toBe("/api/v1")
  for (const { url } of servers) expect(url.endsWith("/api/v1")).toBe(true)
  expect(servers).not.toEqual([])
})

test.each([
  ["ChatRequest", "max_tokens"],
  ["ChatRequest", "route"],
  ["ResponsesRequest", "route"],
  ["CurrentKey", "rate_limit"],
])("the document marks %s.%s as deprecated", async (schema, field) => {
  const { components } = await read()
  expect(components.schemas[schema]?.properties?.[field]).toMatchObject({ deprecated: true })
})

test("the document marks the charge endpoint as deprecated", async () => {
  const { paths } = await read()
  expect(paths["/credits/vendor"]?.["post"]?.deprecated).toBe(true)
})

test("the session-cost dataset documents limit 1 to 500, 100 by default, and offset 0 to 5000, 0 by default", async () => {
  const { paths } = await read()
  const parameters = paths["/datasets/session-cost"]?.["get"]?.parameters ?? []
  const rangeOf = (name: string) => parameters.find((parameter) => parameter.name === name)?.schema
  expect(rangeOf("limit")).toMatchObject({ minimum: 1, maximum: 500, default: 100 })
  expect(rangeOf("offset")).toMatchObject({ minimum: 0, maximum: 5000, default: 0 })
})

test("the session-cost dataset may be reused with attribution", async () => {
  const { paths } = await read()
  expect(paths["/datasets/session-cost"]?.["get"]?.description).toContain("Reuse with attribution is allowed.")
})

describe("the groups of operations", () => {
  test.each([
    ["API keys", "/keys"],
    ["OAuth", "/auth/keys"],
    ["chat", "/chat/completions"],
    ["responses", "/responses"],
    ["embeddings", "/embeddings"],
    ["models", "/models"],
    ["endpoints", "/models/{author}/{slug}/endpoints"],
    ["providers", "/providers"],
    ["credits", "/credits"],
    ["generations", "/generation"],
    ["guardrails", "/guardrails"],
    ["BYOK", "/byok"],
    ["presets", "/presets"],
    ["workspaces", "/workspaces"],
    ["SCIM", "/scim/groups"],
    ["observability", "/observability/destinations"],
    ["files", "/files"],
    ["datasets", "/datasets/session-cost"],
    ["classifications", "/classifications"],
    ["benchmarks", "/benchmarks"],
    ["analytics", "/analytics"],
    ["images", "/images"],
    ["rerank", "/rerank"],
    ["speech-to-text", "/audio/transcriptions"],
    ["text-to-speech", "/audio/speech"],
    ["video generation", "/videos"],
    ["organization", "/organization"],
    ["interns", "/interns"],
    ["vault", "/vault/secrets"],
  ])("%s: has operations at %s", async (_, path) => {
    const { paths } = await read()
    expect(Object.keys(paths).some((one) => one === path || one.startsWith(`${path}/`))).toBe(true)
  })
})
