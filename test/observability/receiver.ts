import { runDurableObjectAlarm } from "cloudflare:test"
import { expect, onTestFinished, vi } from "vitest"
import { expectJson, type Workspace } from "../support/world.ts"
import { eventually } from "../support/eventually.ts"

export type Received = { method: string; url: URL; headers: Headers; body: string }
type ReceivingDestination = { got: Received[]; answer: (received: Received) => Response | Promise<Response> }

const receivers = new Map<string, ReceivingDestination>()
const network = globalThis.fetch
const isDown = () => new Response("down", { status: 503 })
/** The response of the providers with a .test hostname. */
const provider = { answer: isDown }

export function useProvider(answer: () => Response): void {
  provider.answer = answer
  onTestFinished(() => void (provider.answer = isDown))
}

/** A receiver that does not respond until it is released. */
export function newHungReceiver() {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const receiver = newReceiver(() => promise.then(() => new Response("late")))
  return { ...receiver, release: () => resolve(undefined) }
}

/** Handles fetches to the receivers and .test providers of this suite; other requests go to the network. */
export function mockReceivers(): void {
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const request = new Request(input, init)
    const url = new URL(request.url)
    const receiver = receivers.get(url.pathname.split("/")[1] ?? "")
    if (url.hostname.endsWith(".test")) {
      await request.text()
      return provider.answer()
    }
    if (!receiver) return network(request)
    const received = { method: request.method, url, headers: request.headers, body: await request.text() }
    receiver.got.push(received)
    return receiver.answer(received)
  })
}

/** A receiver at an address that the test configuration allows. */
export function newReceiver(answer: ReceivingDestination["answer"] = () => new Response("fine")) {
  const id = crypto.randomUUID()
  const receiver: ReceivingDestination = { got: [], answer }
  receivers.set(id, receiver)
  return {
    ...receiver,
    url: `http://127.0.0.1:9/${id}`,
    turn: (next: ReceivingDestination["answer"]) => (receiver.answer = next),
  }
}

export type Destination = {
  id: string
  backlog: number
  dead_letters: number
  last_error: string | null
  last_success_at: string | null
  config: { signingSecret: string }
}

export async function listen(workspace: Workspace, url: string, more: object = {}): Promise<Destination> {
  const input = { type: "webhook", name: "test", config: { url }, ...more }
  return (await expectJson<{ data: Destination }>(201, workspace.manage.post("/observability/destinations", input)))
    .data
}

export async function destinationOf(workspace: Workspace, id: string): Promise<Destination> {
  const answer = workspace.manage.get(`/observability/destinations/${id}`)
  return (await expectJson<{ data: Destination }>(200, answer)).data
}

/** Settles the calls, and writes them to the database and the queue. */
export async function flush(workspace: Workspace): Promise<void> {
  await workspace.ledger.balance()
  await runDurableObjectAlarm(workspace.object)
}

type Value = {
  stringValue?: string
  intValue?: string
  doubleValue?: number
  boolValue?: boolean
  arrayValue?: unknown
}
type Span = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  attributes: { key: string; value: Value }[]
}
export type ReceivedSpan = Omit<Span, "attributes"> & { at: Record<string, unknown> }

/** The spans that a receiver got, with their attributes as an object. */
export function spansIn(got: readonly Received[]): ReceivedSpan[] {
  type Body = { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] }
  const spans = got.flatMap(({ body }) =>
    (JSON.parse(body) as Body).resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
  )
  return spans.map(({ attributes, ...span }) => ({
    ...span,
    at: Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]])),
  }))
}

export const generationsIn = (got: readonly Received[]) =>
  spansIn(got).map(({ at }) => at["gateway.generation_id"] as string)

/** The spans of a receiver, once it has `count` of them. */
export async function receivedSpans(got: readonly Received[], count: number): Promise<ReceivedSpan[]> {
  return eventually(() => {
    const spans = spansIn(got)
    expect(spans.length).toBeGreaterThanOrEqual(count)
    return spans
  })
}

export const idOf = (response: Response) => response.headers.get("x-generation-id") ?? ""

/** Reads a response to its end and returns its generation id. */
export async function call(requests: Promise<Response>): Promise<string> {
  const response = await requests
  await response.text()
  return idOf(response)
}
