/** The OpenAPI document as the fuzzer reads it. */
export type Schema = {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  example?: unknown
  format?: string
  pattern?: string
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  items?: Schema
  minItems?: number
  maxItems?: number
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  oneOf?: Schema[]
  anyOf?: Schema[]
  allOf?: Schema[]
}

type Content = Record<string, { schema?: Schema; example?: unknown }>

export type Operation = {
  name: string
  method: string
  /** With the prefix of the API, if it has one. */
  path: string
  parameters: { name: string; in: string; required?: boolean; schema?: Schema }[]
  body: Content
  responses: Record<string, { content?: Content }>
}

type Described = {
  parameters?: Operation["parameters"]
  requestBody?: { content: Content }
  responses: Operation["responses"]
}

export type Document = {
  paths: Record<string, Record<string, Described>>
  components: { schemas: Record<string, Schema> }
}

export function operationsOf({ paths }: Document): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody, responses }]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path: path.startsWith("/console/") ? path : `/api/v1${path}`,
      parameters,
      body: requestBody?.content ?? {},
      responses,
    })),
  )
}

export function resolverOf({ components }: Document): (schema: Schema) => Schema {
  return function resolve(schema): Schema {
    const name = schema.$ref?.split("/").at(-1)
    return name === undefined ? schema : resolve(components.schemas[name] ?? {})
  }
}
