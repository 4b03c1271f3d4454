import { Validator } from "@cfworker/json-schema"
import type { Document, Operation } from "./document.ts"
import type { FuzzRequest } from "./requests.ts"
import type { Answer } from "./send.ts"

/** Statuses that any request may get, whatever its route declares. */
const OF_EVERY_ROUTE = new Set([400, 401, 404, 405])
/** What a provider that fails makes of a call. */
const OF_PROVIDERS = new Set([502, 503, 504, 524, 529])
const CALLS =
  /^\/api\/v1\/(chat|responses|messages|embeddings|rerank|images|audio|videos|interns|presets|models|providers|catalogue|files|observability|scim)/

export class Checker {
  readonly #document: Document
  readonly #secrets: readonly string[]
  readonly #validators = new Map<string, Validator>()

  constructor(document: Document, secrets: readonly string[]) {
    this.#document = document
    this.#secrets = secrets
  }

  /** What is wrong with an answer; empty for a right one. */
  faults(request: FuzzRequest, answer: Answer | undefined): string[] {
    if (!answer) return ["no answer: the connection was closed, or nothing came in 30 s"]
    const { status, headers, text } = answer
    const { operation } = request
    const faults: string[] = []
    if (status >= 500 && !(OF_PROVIDERS.has(status) && CALLS.test(operation.path))) faults.push(`status ${status}`)
    if (!String(headers["x-request-id"]).startsWith("req-")) faults.push("no x-request-id")
    if (headers["x-content-type-options"] !== "nosniff") faults.push("no nosniff")
    for (const secret of this.#secrets) {
      if (text.includes(secret) || JSON.stringify(headers).includes(secret)) faults.push("a secret of the deployment")
    }
    if (request.method === "HEAD" || request.method === "OPTIONS") return faults
    if (status >= 400) faults.push(...envelopeFaults(request, answer))
    if (request.method === operation.method) faults.push(...this.#schemaFaults(operation, answer))
    return faults
  }

  #schemaFaults(operation: Operation, { status, headers, text, isComplete }: Answer): string[] {
    const described = operation.responses[String(status)]
    const isServed = status === 101 || status === 304 || OF_EVERY_ROUTE.has(status)
    if (!described) return isServed ? [] : [`status ${status} is not in the document`]
    const type = (headers["content-type"] ?? "").split(";")[0] ?? ""
    if (type === "text/event-stream") return isComplete ? streamFaults(text) : []
    const schema = described.content?.[type]?.schema
    if (!described.content || status === 204) return []
    if (!schema)
      return type in described.content ? [] : [`content type ${type || "none"} is not in the document for ${status}`]
    if (!type.endsWith("json")) return []
    const parsed = parse(text)
    if (parsed === undefined) return ["a body that is not JSON"]
    const { valid, errors } = this.#validator(operation, status, type).validate(parsed)
    return valid
      ? []
      : [
          `a body outside its schema: ${errors
            .slice(-2)
            .map((one) => `${one.instanceLocation} ${one.error}`)
            .join("; ")}`,
        ]
  }

  #validator(operation: Operation, status: number, type: string): Validator {
    const name = `${operation.name} ${status} ${type}`
    const known = this.#validators.get(name)
    if (known) return known
    const schema = operation.responses[String(status)]?.content?.[type]?.schema ?? {}
    const made = new Validator({ ...schema, components: this.#document.components } as never, "2020-12")
    this.#validators.set(name, made)
    return made
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

type Envelope = { error?: { code?: unknown; message?: unknown; type?: unknown } }

/** Errors of the Messages format have that format's envelope, and those of the token endpoint that of OAuth. */
function envelopeFaults({ operation, path }: FuzzRequest, { status, text }: Answer): string[] {
  const body = parse(text) as Envelope | undefined
  if (operation.path.endsWith("/oauth/token") && typeof body?.error === "string") return []
  const { code, message, type } = body?.error ?? {}
  const isMessages = path.includes("/messages") && typeof type === "string"
  if (typeof message !== "string" || message === "") return [`no error envelope with ${status}`]
  return isMessages || code === status ? [] : [`error.code ${String(code)} with ${status}`]
}

function streamFaults(text: string): string[] {
  const frames = text.split(/\r\n\r\n|\n\n/).flatMap((frame) => {
    const data = frame.split(/\r?\n/).filter((line) => line.startsWith("data:"))
    return data.length === 0 ? [] : [data.map((line) => line.slice(5).trimStart()).join("\n")]
  })
  const broken = frames.filter((frame) => frame !== "[DONE]" && parse(frame) === undefined)
  return broken.length === 0 ? [] : [`a frame that is not JSON: ${(broken[0] ?? "").slice(0, 100)}`]
}
