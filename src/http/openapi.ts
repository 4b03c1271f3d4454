import type { OpenAPIHono } from "@hono/zod-openapi"
import { EXAMPLES } from "./examples.ts"
import type { App } from "../access/app.ts"

type Document = ReturnType<OpenAPIHono<App>["getOpenAPI31Document"]>

let document: Document | undefined

/** The OpenAPI 3.1 description, from the very routes and schemas that answer. */
export function describeApi(api: OpenAPIHono<App>): Document {
  if (!document) {
    api.openAPIRegistry.registerComponent("securitySchemes", "apiKey", { type: "http", scheme: "bearer" })
    // Of an intern's daemon.
    api.openAPIRegistry.registerComponent("securitySchemes", "joinToken", { type: "http", scheme: "bearer" })
    document = api.getOpenAPI31Document({
      openapi: "3.1.0",
      info: {
        title: "Model gateway",
        version: "1.0.0",
        description: "Paths are relative to the service root, which ends in /api/v1.",
      },
      servers: [{ url: "/api/v1" }],
      security: [{ apiKey: [] }],
    })
    addExamples(document)
  }
  return document
}

function addExamples({ paths = {} }: Document): void {
  for (const operations of Object.values(paths)) {
    for (const { operationId, requestBody } of describedOf(operations)) {
      const json = requestBody?.content?.["application/json"]
      const example = EXAMPLES[operationId ?? ""]
      if (json && example !== undefined) json.example ??= example
    }
  }
}

function describedOf(operations: object): Described[] {
  return Object.values(operations)
}

type Described = {
  operationId?: string
  requestBody?: { content?: Record<string, { example?: unknown }> }
}
