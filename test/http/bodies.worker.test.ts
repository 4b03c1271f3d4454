import { describe, expect, test } from "vitest"
import { acceptJson } from "../../src/http/router.ts"
import { client, expectJson, newWorkspace } from "../support/world.ts"

type Failure = { error: { message: string } }

test("a request with an empty body has no body, with and without a content type", async () => {
  for (const type of [{}, { "content-type": "application/json" }]) {
    const body = new ReadableStream({ pull: (controller) => controller.close() })
    const headers = { ...type, "content-length": "0" }
    const raw = new Request("https://gateway.test/", { method: "POST", headers, body })
    const context = { req: { raw, method: "POST" } }
    await acceptJson(10)(context as unknown as Parameters<ReturnType<typeof acceptJson>>[0], async () => undefined)
    expect(context.req.raw.body).toBeNull()
  }
})

test.each([600, 20_000])("a body with %s levels is rejected, whatever its schema reads of it", async (levels) => {
  const { manage } = await newWorkspace()
  const deep = "[".repeat(levels) + "]".repeat(levels)
  const bodies = {
    "/observability/destinations": `{"type":"webhook","name":"x","config":{"url":"https://e.example","headers":${deep}}}`,
    "/guardrails": `{"name":"x","content_filters":${deep}}`,
    "/mcp-servers": `{"slug":"x","name":"x","url":"https://e.example","headers":{"a":${deep}}}`,
    "/alerts/channels": `{"type":"webhook","name":"x","config":${deep}}`,
  }
  for (const [path, body] of Object.entries(bodies)) await expectJson(400, manage.post(path, body))
})

describe("text with half of a surrogate pair, which has no UTF-8 encoding", () => {
  const half = "a\ud83d"

  test("is rejected in records, whose stored text would differ", async () => {
    const { manage } = await newWorkspace()
    const batch = { input_file_id: "file", endpoint: "/v1/chat/completions", completion_window: "24h" }
    for (const [path, body, field] of [
      ["/workspaces", { name: "a", slug: "surrogates", description: half }, "description"],
      [
        "/guardrails",
        { name: "a", content_filters: [{ action: "block", pattern: half }] },
        "content_filters[0].pattern",
      ],
      ["/batches", { ...batch, metadata: { [half]: "x" } }, "metadata.a\ufffd"],
    ] as const) {
      const { error } = await expectJson<Failure>(400, manage.post(path, body))
      expect(error.message).toContain(field)
    }
    const { error } = await expectJson<Failure>(400, manage.post("/keys", { name: half }))
    expect(error.message).toBe("name: must be one line without control characters.")
    await expectJson(201, manage.post("/keys", { name: "a\ud83d\ude00" }))
  })

  test("is left to the provider in a call", async () => {
    const { as } = await newWorkspace()
    const body = { model: "test/none", messages: [{ role: "user", content: half }] }
    const { error } = await expectJson<Failure>(404, as.post("/chat/completions", body))
    expect(error.message).not.toContain("Unicode")
  })
})

type Operation = { security?: unknown[]; requestBody?: { required?: boolean; content: Record<string, unknown> } }
type Document = { paths: Record<string, Record<string, Operation>>; components: { schemas: object } }

describe("the API document", () => {
  const read = async () => {
    const { paths } = await expectJson<Document>(200, client().get("/openapi.json"))
    return (method: string, path: string) => paths[path]?.[method] ?? {}
  }

  test("says which operations need no key", async () => {
    const operation = await read()
    for (const path of ["/models", "/models/{author}/{slug}", "/providers", "/images/models", "/endpoints/zdr"])
      expect(operation("get", path).security, path).toEqual([])
    for (const path of ["/models/user", "/embeddings/models", "/key"])
      expect(operation("get", path).security, path).toBeUndefined()
    expect(operation("post", "/credits/vendor").security).toEqual([])
  })

  test("requires a body only where a request without one is rejected", async () => {
    const operation = await read()
    for (const path of ["/keys/{hash}", "/workspaces/{workspaceRef}", "/interns/{internId}", "/alerts/settings"])
      expect(operation("patch", path).requestBody?.required, path).toBe(false)
    for (const path of ["/keys", "/chat/completions", "/presets/{slug}/responses", "/files", "/oauth/token"])
      expect(operation("post", path).requestBody?.required, path).toBe(true)
    expect(operation("patch", "/scim/directories/{id}").requestBody?.required).toBe(true)
  })

  test("has the bodies that are forms or files", async () => {
    const operation = await read()
    for (const [path, type] of [
      ["/files", "multipart/form-data"],
      ["/images/edits", "multipart/form-data"],
      ["/audio/transcriptions", "multipart/form-data"],
      ["/audio/translations", "application/json"],
      ["/oauth/token", "application/x-www-form-urlencoded"],
      ["/passthrough/{service}/{path}", "*/*"],
    ] as const)
      expect(operation("post", path).requestBody?.content, path).toHaveProperty([type])
    expect(operation("put", "/interns/{internId}/files/content").requestBody?.content).toHaveProperty(["*/*"])
    const { components } = await expectJson<Document>(200, client().get("/openapi.json"))
    expect(components.schemas).toHaveProperty(["TranscriptionRequest", "properties", "input_audio"])
  })
})
