import { GatewayError } from "../../errors/errors.ts"
import type { Screening } from "../../guardrails/screening.ts"
import { screeningOf } from "../../guardrails/create-screening.ts"
import { secretsInUrl } from "../../outbound/masked-url.ts"
import { openOutbound } from "../../outbound/send.ts"
import { hostsIn, networkOf } from "../../outbound/settings.ts"
import { readAtMost } from "../../support/bytes.ts"
import { readText } from "../../support/text/read-text.ts"
import { type Redactor, redactorFor } from "../../outbound/redactor.ts"
import { keyFinder } from "../../policy/authenticate.ts"
import { createDeps, type IncomingCall, requestMetaOf } from "../context.ts"
import { holdToolCall, type ToolCall } from "../mcp/tool-call.ts"
import { decodeReceived, isRead, screenReceived, screenSent, type ScreenedRequest, typeInUtf8 } from "./content.ts"
import { clientHeaders, pathBelow, requestHeaders, responseHeaders, targetUrl } from "./forwarding.ts"
import { findCallableService, requireRule, type Service, serviceModel } from "./service-call.ts"

/** Limit of bodies that guardrails read. Others are streamed, up to the limit of the platform. */
const MAX_READ_BYTES = 4 * 1024 * 1024
const TIME_IS_OVER = "timeout"

/** Forwards one request to a registered service: permission, guardrails, hold, request, settlement. */
export async function forward(incoming: IncomingCall, slug: string): Promise<Response> {
  const { caller, request } = incoming
  const meta = requestMetaOf(incoming)
  const service = await findCallableService(incoming, slug)
  const url = new URL(request.url)
  const path = pathBelow(url)
  const rule = requireRule(service, request.method, path)
  const screening = screeningOf(caller.guardrails, meta)
  const hasKey = keyFinder(request.headers)
  const headers = clientHeaders(request.headers, hasKey)
  const body = screening ? await bodyText(request) : undefined
  const sent: ScreenedRequest = { path, query: url.searchParams, headers, body }
  const type = request.headers.get("content-type") ?? ""
  const passed = screening ? await screenSent(sent, type, screening) : sent
  const input = `${request.method} ${passed.path}${passed.body === undefined ? "" : `\n${passed.body}`}`
  const { name, timeoutMs } = service.row
  const about = {
    model: serviceModel(slug),
    provider: name,
    priceNano: rule.priceNano,
    sessionId: meta.sessionId,
    input,
  }
  const call = await holdToolCall(about, { caller, meta }, await createDeps(incoming))
  const deadline = newDeadline(request.signal, timeoutMs)
  const exchange = {
    incoming,
    service,
    call,
    screening,
    signal: deadline.signal,
    hidden: redactorOf(service),
  }
  try {
    const to = { url: targetUrl(service, { path: passed.path, query: passed.query, hasKey }), headers: passed.headers }
    const response = await send(exchange, to, screening ? passed.body : request.body)
    return await relay(response, exchange, deadline.clear)
  } catch (thrown) {
    deadline.clear()
    const error = failureOf(thrown, exchange)
    const ending = endingOf(exchange)
    call.end({ ending, isCharged: ending === "cancelled", ...(ending === "error" && { error }) })
    throw error
  }
}

type Exchange = {
  incoming: IncomingCall
  service: Service
  call: ToolCall
  screening: Screening | undefined
  signal: AbortSignal
  hidden: Redactor
}

async function bodyText(request: Request): Promise<string> {
  const text = await readText(request, MAX_READ_BYTES)
  if (text !== undefined) return text
  throw new GatewayError(
    "payload_too_large",
    `A guardrail of this key filters requests: send at most ${MAX_READ_BYTES} bytes.`,
  )
}

/** Hides the secrets in responses: a service may echo its request, as in an error message. */
function redactorOf({ row, secrets }: Service): Redactor {
  const values = [...Object.values(secrets.headers), ...Object.values(secrets.query), ...secretsInUrl(row.baseUrl)]
  const bare = values.map((value) => value.replace(/^(?:Bearer|Basic|Token) +/i, ""))
  const hidden = [...new Set([...values, ...bare])].map((value) => ({ value, placeholder: "[redacted]" }))
  return redactorFor({ released: values.map((value) => [value, "[redacted]"]), secrets: hidden })
}

type Destination = { url: string; headers: Readonly<Record<string, string>> }

async function send(
  { incoming, service, signal }: Exchange,
  to: Destination,
  body: BodyInit | null | undefined,
): Promise<Response> {
  const { env, request } = incoming
  const fetcher: typeof fetch = (...one) => fetch(...one)
  const deps = { fetch: fetcher, ...networkOf(env, fetcher), privateHosts: hostsIn(env, "PRIVATE_HOSTS") }
  const headers = requestHeaders(to.headers, service.secrets.headers)
  const hasBody = request.method !== "GET" && body != null && body !== ""
  const outgoing = { url: to.url, method: request.method, headers, body: hasBody ? body : null, isFinal: true as const }
  const opened = await openOutbound(outgoing, deps, signal)
  if (opened instanceof Response) return opened
  throw new GatewayError("provider_failed", `${service.row.name} cannot be reached: ${opened.reason}.`)
}

/** Relays the response. It is charged unless its status is an error. */
async function relay(response: Response, exchange: Exchange, clear: () => void): Promise<Response> {
  const { call, hidden, screening, service, incoming } = exchange
  const { status } = response
  const { name } = service.row
  if (status === 401 || status === 403) {
    await response.body?.cancel()
    throw new GatewayError("provider_failed", `${name} rejected the secrets of its record (status ${status}).`)
  }
  const isFailed = status >= 400
  const failure = isFailed && new GatewayError("provider_failed", `${name} returned status ${status}.`)
  const end = { ending: isFailed ? ("error" as const) : ("complete" as const), isCharged: !isFailed }
  const headers = responseHeaders(response.headers, call.id, hidden.text)
  const type = response.headers.get("content-type") ?? ""
  if (screening?.readsOutput) filterFileName(headers, screening)
  if (screening?.readsOutput && isRead(type)) {
    // The service has done its work: like an unread response, this one is charged also if it ends early.
    const passed = await readScreened(response, exchange, screening).catch((thrown: unknown) => {
      const error = failureOf(thrown, exchange)
      const ending = endingOf(exchange)
      call.end({ ...end, ending, ...(ending === "error" && { error }), stages: screening.stages() })
      throw error
    })
    if (type !== "") headers.set("content-type", typeInUtf8(type))
    clear()
    call.end({ ...end, ...(failure && { error: failure }), output: passed, stages: screening.stages() })
    return new Response(passed, { status, headers })
  }
  const finish = { ...end, ...(failure && { error: failure }), ...(screening && { stages: screening.stages() }) }
  if (!response.body || [204, 205, 304].includes(status)) {
    clear()
    call.end(finish)
    return new Response(null, { status, headers })
  }
  const { readable, writable } = new IdentityTransformStream()
  const work = response.body
    .pipeThrough(hidden.stream())
    .pipeTo(writable)
    .then(
      () => call.end(finish),
      // The client or the service disconnected. The service has done its work, so the call is charged.
      () => call.end({ ...finish, ending: isFailed ? "error" : "cancelled" }),
    )
    .finally(clear)
  incoming.executionCtx.waitUntil(work)
  return new Response(readable, { status, headers })
}

/** The complete text of a response after the guardrails. */
async function readScreened(response: Response, { hidden, service }: Exchange, screening: Screening): Promise<string> {
  const type = response.headers.get("content-type") ?? ""
  const bytes = response.body ? await readAtMost(response.body, MAX_READ_BYTES) : new Uint8Array()
  const text = bytes && decodeReceived(bytes, type)
  if (text !== undefined) return screenReceived(hidden.text(text), type, screening)
  const reason = bytes ? "in a charset that cannot be checked" : "that is too large to check"
  throw new GatewayError("provider_failed", `${service.row.name} returned a response ${reason}.`)
}

/** The name of a file is text of the service. */
function filterFileName(headers: Headers, { providerMessage }: Screening): void {
  const disposition = headers.get("content-disposition")
  if (disposition === null) return
  const passed = providerMessage(disposition)
  if (passed === undefined) headers.delete("content-disposition")
  else headers.set("content-disposition", passed)
}

/** `cancelled` if the client disconnected. */
function endingOf({ signal }: Exchange): "cancelled" | "error" {
  return signal.aborted && signal.reason !== TIME_IS_OVER ? "cancelled" : "error"
}

function failureOf(thrown: unknown, { service, signal }: Exchange): GatewayError {
  if (thrown instanceof GatewayError) return thrown
  const { name } = service.row
  if (signal.aborted) return new GatewayError("timeout", `${name} did not respond within the timeout of its record.`)
  // The message of a connection error can include internal hosts and addresses.
  return new GatewayError("provider_failed", `The connection to ${name} failed.`)
}

/** Aborts with the timeout of the service's record, or when the client disconnects. */
function newDeadline(client: AbortSignal, timeoutMs: number): { signal: AbortSignal; clear: () => void } {
  const controller = new AbortController()
  const stop = () => controller.abort("disconnect")
  const timer = setTimeout(() => controller.abort(TIME_IS_OVER), timeoutMs)
  if (client.aborted) stop()
  client.addEventListener("abort", stop, { once: true })
  const clear = () => {
    clearTimeout(timer)
    client.removeEventListener("abort", stop)
  }
  return { signal: controller.signal, clear }
}
