import type { OpenAPIHono } from "@hono/zod-openapi"
import { EXAMPLES } from "./examples.ts"
import { FORM_BODIES } from "./form-bodies.ts"
import { describeFields, describeParameter } from "./fields/describe.ts"
import type { App } from "../access/app.ts"
import { isArray, isObject } from "../support/text/json.ts"

type Document = ReturnType<OpenAPIHono<App>["getOpenAPI31Document"]>

let document: Document | undefined

/** The OpenAPI 3.1 description, generated from the routes and schemas in use. */
export function describeApi(api: OpenAPIHono<App>): Document {
  if (!document) {
    api.openAPIRegistry.registerComponent("securitySchemes", "apiKey", { type: "http", scheme: "bearer" })
    // Join token of an intern's daemon.
    api.openAPIRegistry.registerComponent("securitySchemes", "joinToken", { type: "http", scheme: "bearer" })
    document = api.getOpenAPI31Document({
      openapi: "3.1.0",
      info: {
        title: "Model gateway",
        version: "1.0.0",
        description: "Paths are relative to the service root, which ends in /api/v1.",
        license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
      },
      servers: [{ url: "/api/v1" }],
      security: [{ apiKey: [] }],
    })
    addFormBodies(document)
    addExamples(document)
    markOptionalBodies(document)
    addBodyFailures(document)
    addDescriptions(document)
  }
  return document
}

function addDescriptions({ paths = {}, components = {} }: Document): void {
  for (const [name, schema] of Object.entries(components.schemas ?? {})) describeFields(schema, name)
  for (const operations of Object.values(paths)) {
    for (const { parameters = [], requestBody, responses } of describedOf(operations)) {
      for (const parameter of parameters) describeParameter(parameter)
      const bodies = [requestBody, ...Object.values(responses)].flatMap((body) => Object.values(body?.content ?? {}))
      for (const { schema } of bodies) describeFields(schema)
    }
  }
}

function addFormBodies({ paths = {} }: Document): void {
  for (const operations of Object.values(paths)) {
    for (const operation of describedOf(operations)) {
      const body = FORM_BODIES[operation.operationId ?? ""]
      if (body) operation.requestBody = structuredClone(body)
    }
  }
}

/** These reject a request without a body, which otherwise has the body `{}`. */
const NEVER_EMPTY = new Set(["createPresetFromChat", "createPresetFromResponses", "createPresetFromMessages"])

function markOptionalBodies({ paths = {}, components = {} }: Document): void {
  for (const operations of Object.values(paths)) {
    for (const { operationId = "", requestBody } of describedOf(operations)) {
      const schema = requestBody?.content?.["application/json"]?.schema
      if (requestBody && schema && !Object.hasOwn(FORM_BODIES, operationId)) {
        requestBody.required = NEVER_EMPTY.has(operationId) || !acceptsEmpty(schema, components.schemas)
      }
    }
  }
}

function acceptsEmpty(schema: unknown, schemas: object = {}): boolean {
  if (!isObject(schema)) return false
  const { $ref, type, required, minProperties = 0 } = schema
  if (typeof $ref === "string") {
    const referred = Object.entries(schemas).find(([name]) => $ref === `#/components/schemas/${name}`)
    return acceptsEmpty(referred?.[1], schemas)
  }
  return type === "object" && minProperties === 0 && (!isArray(required) || required.length === 0)
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

/** Every route with a body rejects one that is too large or of another type, before it is read. */
function addBodyFailures({ paths = {} }: Document): void {
  for (const operations of Object.values(paths)) {
    for (const [method, operation] of Object.entries(operations as Record<string, Described>)) {
      if (!["post", "put", "patch"].includes(method)) continue
      operation.responses["413"] ??= failure("The body is too large.")
      operation.responses["415"] ??= failure("The content type of the body is not supported by the route.")
    }
  }
}

function failure(description: string): Content & { description: string } {
  return { description, content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } } }
}

function describedOf(operations: object): Described[] {
  return Object.values(operations)
}

type Content = { content?: Record<string, { example?: unknown; schema?: unknown }> }
type Described = {
  operationId?: string
  parameters?: object[]
  responses: Record<string, Content>
  requestBody?: Content & { required?: boolean }
}
