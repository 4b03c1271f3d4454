import { Contract, envelopeFaults } from "../support/contract.ts"
import { type Document, operationsOf } from "./document.ts"
import type { FuzzRequest } from "./requests.ts"
import type { Answer } from "./send.ts"

/** Statuses of a call for a failing provider. */
const OF_PROVIDERS = new Set([502, 503, 504, 524, 529])
const CALLS =
  /^\/api\/v1\/(chat|completions|responses|messages|embeddings|rerank|moderations|images|audio|videos|interns|presets|models|providers|catalogue|files|observability|scim)/

export class Checker {
  readonly #contract: Contract
  readonly #secrets: readonly string[]

  constructor(document: Document, secrets: readonly string[]) {
    this.#contract = new Contract(document, operationsOf(document))
    this.#secrets = secrets
  }

  /** Faults of a response; empty for a correct one. */
  faults(request: FuzzRequest, answer: Answer | undefined): string[] {
    if (!answer) return ["no answer: the connection was closed, or nothing came in 30 s"]
    const { status, headers, text, isComplete } = answer
    const { operation } = request
    const faults: string[] = []
    if (status >= 500 && !(OF_PROVIDERS.has(status) && CALLS.test(operation.path))) faults.push(`status ${status}`)
    if (!String(headers["x-request-id"]).startsWith("req-")) faults.push("no x-request-id")
    if (headers["x-content-type-options"] !== "nosniff") faults.push("no nosniff")
    for (const secret of this.#secrets) {
      if (text.includes(secret) || JSON.stringify(headers).includes(secret)) faults.push("a secret of the deployment")
    }
    if (request.method === "HEAD" || request.method === "OPTIONS") return faults
    if (status >= 400) faults.push(...envelopeFaults(request.path, answer))
    if (request.method === operation.method) {
      const contentType = headers["content-type"] ?? ""
      if (!isComplete && !contentType.startsWith("text/event-stream")) faults.push("a body without an end")
      const served = { status, contentType, text, isComplete }
      faults.push(...this.#contract.faults(operation, served))
    }
    return faults
  }
}
