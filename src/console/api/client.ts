import { CONSOLE_HEADER, takeSession } from "./first-session.ts"

export const BASE = "/api/v1"

type Facts = { status: number; requestId: string | null; metadata?: Record<string, unknown>; routing?: unknown }

/** A failed call: the message of the envelope, and the ids that support needs. */
export class ApiError extends Error {
  readonly status: number
  readonly requestId: string | null
  readonly metadata: Readonly<Record<string, unknown>>
  /** Routing metadata of the failed call, if requested. */
  readonly routing: unknown

  constructor(message: string, facts: Facts) {
    super(message)
    this.status = facts.status
    this.requestId = facts.requestId
    this.metadata = facts.metadata ?? {}
    this.routing = facts.routing ?? null
  }

  static fromThrown(thrown: unknown): ApiError {
    if (thrown instanceof ApiError) return thrown
    const message = thrown instanceof Error ? thrown.message : String(thrown)
    return new ApiError(message, { status: 0, requestId: null })
  }
}

let unauthorized = () => {}
let session = 0

/** After a sign-in: responses to requests of the former session do not end this one. */
export function ignoreEarlierRequests(): void {
  session += 1
}

/** Called when the session has ended: after 12 hours, or because its key was disabled. */
export function onUnauthorized(listener: () => void): void {
  unauthorized = listener
}

export type Options = {
  method?: string
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal
}

/** Time of a request with its response, except for uploads and streams. */
const TIMEOUT_MS = 120_000

/** Bodies that are sent unchanged. Anything else is sent as JSON. */
function isRaw(body: unknown): body is FormData | Blob {
  return body instanceof FormData || body instanceof Blob
}

/** Calls the API without reading the response. Throws ApiError for any status that is not a success. */
export async function call(path: string, { method = "GET", body, headers, signal }: Options = {}): Promise<Response> {
  const startedIn = session
  const response = await fetch(`${BASE}${path}`, {
    method,
    credentials: "same-origin",
    headers: {
      ...CONSOLE_HEADER,
      ...(body !== undefined && !isRaw(body) && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: isRaw(body) ? body : JSON.stringify(body) }),
    ...(signal && { signal }),
  }).catch(rethrowOffline)
  if (response.ok) return response
  if (response.status === 401 && startedIn === session) unauthorized()
  throw await errorOf(response)
}

/** Calls the API and returns the JSON. */
export async function api<T>(path: string, options: Options = {}): Promise<T> {
  if (isRaw(options.body)) return readJson<T>(await call(path, options))
  const timeout = AbortSignal.timeout(TIMEOUT_MS)
  const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout
  return readJson<T>(await call(path, { ...options, signal }))
}

export async function readSession<T>(): Promise<T> {
  const response = await takeSession().catch(rethrowOffline)
  if (!response.ok) throw await errorOf(response)
  return readJson<T>(response)
}

export async function sessionCall<T>(method: "POST" | "DELETE", body?: unknown): Promise<T> {
  const response = await fetch("/console/session", {
    method,
    credentials: "same-origin",
    headers: { ...CONSOLE_HEADER, ...(body !== undefined && { "content-type": "application/json" }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }).catch(rethrowOffline)
  if (!response.ok) throw await errorOf(response)
  return readJson<T>(response)
}

/** The sign-in options besides a key. */
export async function readSignInOptions(): Promise<{ data: { oidc: { name: string } | null } }> {
  const response = await fetch("/console/sign-in", { headers: CONSOLE_HEADER }).catch(rethrowOffline)
  if (!response.ok) throw await errorOf(response)
  return readJson(response)
}

/** Response shapes are not checked: the API has tests for them. */
async function readJson<T>(response: Response): Promise<T> {
  const text = await response.text().catch(rethrowOffline)
  try {
    return JSON.parse(text === "" ? "null" : text) as T
  } catch {
    const requestId = response.headers.get("x-request-id")
    throw new ApiError(
      "The response is not from the gateway. A proxy or the network's sign-in page may have sent it.",
      {
        status: response.status,
        requestId,
      },
    )
  }
}

function rethrowOffline(thrown: unknown): never {
  const name = thrown instanceof DOMException ? thrown.name : ""
  if (name === "AbortError") throw thrown
  const message =
    name === "TimeoutError"
      ? "The gateway did not respond in time. A change may have been made: reload to see it."
      : "The gateway cannot be reached. Check that it runs and try again."
  throw new ApiError(message, { status: 0, requestId: null })
}

type Envelope = { error?: { message?: string; metadata?: Record<string, unknown> }; service_metadata?: unknown }

async function errorOf(response: Response): Promise<ApiError> {
  const text = await response.text().catch(rethrowOffline)
  const requestId = response.headers.get("x-request-id")
  const { status } = response
  try {
    const { error, service_metadata: routing } = JSON.parse(text) as Envelope
    const message = error?.message ?? `The gateway returned ${status}.`
    return new ApiError(message, { status, requestId, routing, ...(error?.metadata && { metadata: error.metadata }) })
  } catch {
    return new ApiError(`The gateway returned ${status} without an explanation.`, { status, requestId })
  }
}

/** A path with a query; parameters without a value are omitted. */
export function withParams(
  path: string,
  params: Readonly<Record<string, string | number | boolean | readonly string[] | null | undefined>>,
): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(params)) {
    for (const each of Array.isArray(value) ? value : [value])
      if (each !== null && each !== undefined && each !== "") search.append(name, String(each))
  }
  const text = search.toString()
  return text === "" ? path : `${path}${path.includes("?") ? "&" : "?"}${text}`
}
