import { logError } from "../../support/log.ts"
import { type BulkOperation, mapReferences, type Bulk, orderOf } from "./bulk.ts"
import { invalid, ScimError, toScimFailure } from "./errors.ts"
import { readMessage } from "./message.ts"
import { PatchRequest } from "./patch.ts"
import type { ScimRequest, Verbs } from "./request.ts"
import { scimJson } from "./protocol.ts"

/** The result of an operation, equal to the response of a single request. */
type Outcome = {
  status: number
  /** Id of the resource, if there is one. */
  id?: string
  location?: string
  version?: string
  response?: unknown
}

/** Resource types by the name in their path. */
export type Endpoints = Readonly<Record<string, Verbs>>

const PATH = /^\/(\w+)(?:\/([^/?]+))?\/?$/
const VERBS = { POST: "create", PUT: "replace", DELETE: "remove" } as const

/**
 * Runs the operations of a bulk one by one. Each fails separately; after `failOnErrors` failures the rest are skipped.
 */
export async function runBulk(
  { Operations: operations, failOnErrors }: Bulk,
  request: ScimRequest,
  endpoints: Endpoints,
): Promise<Response> {
  const { order, circular } = orderOf(operations)
  const outcomes = new Map<BulkOperation, Outcome>()
  const created = new Map<string, Outcome>()
  let errors = 0
  for (const operation of order) {
    const outcome = circular.has(operation)
      ? failedOutcome(new ScimError(409, "The operation is part of a circular reference."), request)
      : await perform(operation, request, endpoints, created).catch((thrown: unknown) => failedOutcome(thrown, request))
    outcomes.set(operation, outcome)
    if (operation.method === "POST" && operation.bulkId !== undefined) created.set(operation.bulkId, outcome)
    if (outcome.status >= 400 && ++errors >= failOnErrors) break
  }
  return scimJson({
    schemas: ["urn:ietf:params:scim:api:messages:2.0:BulkResponse"],
    Operations: operations.flatMap((operation) => {
      const outcome = outcomes.get(operation)
      return outcome ? [toResult(operation, outcome)] : []
    }),
  })
}

function toResult({ method, bulkId }: BulkOperation, { status, location, version, response }: Outcome): object {
  return {
    method,
    ...(bulkId !== undefined && { bulkId }),
    ...(version !== undefined && { version }),
    ...(location !== undefined && { location }),
    status: String(status),
    ...(response !== undefined && { response }),
  }
}

async function perform(
  operation: BulkOperation,
  request: ScimRequest,
  endpoints: Endpoints,
  created: ReadonlyMap<string, Outcome>,
): Promise<Outcome> {
  const { method, path, data, version } = mapReferences(operation, (bulkId) => {
    const maker = created.get(bulkId)
    if (!maker) throw invalid("invalidValue", `bulkId: no operation creates ${bulkId.slice(0, 100)}.`)
    if (maker.id === undefined) throw new ScimError(409, `bulkId: ${bulkId.slice(0, 100)} could not be created.`)
    return maker.id
  })
  const [, endpoint = "", id = ""] = PATH.exec(path) ?? []
  const verbs = Object.hasOwn(endpoints, endpoint) ? endpoints[endpoint] : undefined
  if (!verbs || (method === "POST") !== (id === "")) throw new ScimError(404, `There is no ${method} of this path.`)
  const single = {
    ...request,
    id: decode(id),
    headers: new Headers(version === undefined ? {} : { "if-match": version }),
    // A bulk response has no resources, so groups and members need no lookup.
    query: new URLSearchParams({ attributes: "id" }),
    body: async (maxBytes: number) => within(maxBytes, data ?? {}),
  }
  const run = async (): Promise<Response> => {
    if (method !== "PATCH") return verbs[VERBS[method]](single)
    const { Operations: operations } = readMessage(PatchRequest, await single.body(verbs.maxBodyBytes))
    return verbs.patch(single, operations)
  }
  const location = id === "" ? undefined : `${request.base}/${endpoint}/${id}`
  const result = await run().catch((thrown: unknown) => failedOutcome(thrown, request))
  return result instanceof Response ? toOutcome(result, location) : { ...result, ...(location && { location }) }
}

/** Unlike decodeURIComponent, this never throws. */
function decode(id: string): string {
  return new URLSearchParams(`id=${id.replaceAll("+", "%2B").replaceAll("&", "%26")}`).get("id") ?? ""
}

async function toOutcome(result: Response, location: string | undefined): Promise<Outcome> {
  const [scope, version] = [result.headers.get("location") ?? location, result.headers.get("etag") ?? undefined]
  const { id } = result.status === 201 ? await result.json<{ id: string }>() : {}
  return { status: result.status, ...(id && { id }), ...(scope && { location: scope }), ...(version && { version }) }
}

function within(maxBytes: number, data: Record<string, unknown>): Record<string, unknown> {
  if (JSON.stringify(data).length <= maxBytes) return data
  throw new ScimError(413, `data: is larger than ${maxBytes} bytes, the maximum for this path.`)
}

function failedOutcome(thrown: unknown, { origin }: ScimRequest): Outcome {
  const { status, body, error } = toScimFailure(thrown)
  if (status >= 500) logError(error.message, { requestId: origin.requestId }, error.cause)
  return { status, response: body }
}
