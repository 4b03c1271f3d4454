import { dereference, validate } from "@cfworker/json-schema"
import type { Document, Operation, Schema } from "../fuzz/document.ts"

/** Statuses that any request may get, whatever its route declares. */
const OF_EVERY_ROUTE = new Set([400, 401, 404, 405])

export type Served = { status: number; contentType: string | undefined; text: string; isComplete: boolean }

/** Checks responses against the OpenAPI document. */
export class Contract {
  readonly #schemas = new Map<string, Schema>()
  readonly #lookup: ReturnType<typeof dereference>

  constructor({ components }: Document, operations: readonly Operation[]) {
    for (const { name, responses } of operations) {
      for (const [status, { content = {} }] of Object.entries(responses)) {
        for (const [type, { schema }] of Object.entries(content)) {
          if (schema) this.#schemas.set(`${name} ${status} ${type}`, schema)
        }
      }
    }
    // Together, so that the shared schemas are resolved once.
    const root = { components: { schemas: components.schemas }, served: Object.fromEntries(this.#schemas) }
    this.#lookup = dereference(root)
  }

  /** The parts of a response that are not in the document. */
  faults(operation: Operation, { status, contentType = "", text, isComplete }: Served): string[] {
    const described = operation.responses[String(status)]
    const isServed = status === 101 || status === 304 || OF_EVERY_ROUTE.has(status)
    if (!described) return isServed ? [] : [`status ${status} is not in the document`]
    const type = contentType.split(";")[0]?.trim() ?? ""
    if (!described.content || status === 204) return []
    const range = [type, `${type.split("/")[0]}/*`].find((one) => one in (described.content ?? {}))
    if (!range) return [`content type ${type || "none"} is not in the document for ${status}`]
    const schema = this.#schemas.get(`${operation.name} ${status} ${range}`)
    if (type === "text/event-stream") return isComplete ? this.#streamFaults(text, schema) : []
    if (!type.endsWith("json") || !schema || !isComplete) return []
    const parsed = parse(text)
    return parsed === undefined ? ["a body that is not JSON"] : this.#schemaFaults(parsed, schema)
  }

  #streamFaults(text: string, schema: Schema | undefined): string[] {
    const events = dataIn(text).filter((data) => data !== "[DONE]")
    for (const data of events) {
      const event = parse(data)
      if (event === undefined) return [`a frame that is not JSON: ${data.slice(0, 100)}`]
      const faults = schema && schema.type !== "string" ? this.#schemaFaults(event, schema) : []
      if (faults.length > 0) return faults.map((fault) => `${fault}: ${data.slice(0, 300)}`)
    }
    return []
  }

  #schemaFaults(value: unknown, schema: Schema): string[] {
    const { valid, errors } = validate(value, schema as never, "2020-12", this.#lookup, true)
    const last = errors.slice(-2).map((one) => `${one.instanceLocation} ${one.error}`)
    return valid ? [] : [`a body outside its schema: ${last.join("; ")}`]
  }
}

export function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The data of each event of a stream. */
function dataIn(text: string): string[] {
  return text.split(/\r\n\r\n|\n\n|\r\r/).flatMap((frame) => {
    const lines = frame.split(/\r\n|\n|\r/).filter((line) => line.startsWith("data:"))
    return lines.length === 0 ? [] : [lines.map((line) => line.slice("data:".length).trimStart()).join("\n")]
  })
}

type Envelope = { error?: { code?: unknown; message?: unknown; type?: unknown } }

/** Errors of the Messages format have that format's envelope, and those of the token endpoint that of OAuth. */
export function envelopeFaults(path: string, { status, text }: Pick<Served, "status" | "text">): string[] {
  const body = parse(text) as Envelope | undefined
  if (/\/oauth\/token(?:\?|$)/.test(path) && typeof body?.error === "string") return []
  const { code, message, type } = body?.error ?? {}
  const isMessages = path.includes("/messages") && typeof type === "string"
  if (typeof message !== "string" || message === "") return [`no error envelope with ${status}`]
  return isMessages || code === status ? [] : [`error.code ${String(code)} with ${status}`]
}
