import { runDurableObjectAlarm } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { afterEach, expect, test, vi } from "vitest"
import { invalidateOrganization } from "../../src/access/key-cache.ts"
import { listen } from "../observability/receiver.ts"
import { eventually } from "../support/eventually.ts"
import { newWorkspace, openHolds, type Workspace } from "../support/world.ts"
import { onQueue, restoreQueue } from "./bindings.ts"
import { COST, newIntern, respond, callPaths } from "./call-paths.ts"

/** Whatever the queue does, every call gets a response, is charged once, and reaches its destination. */

afterEach(() => vi.restoreAllMocks())

/** Each starts its fault, and may return a function that ends it. */
const faults: Record<string, () => (() => Promise<unknown>) | undefined> = {
  "delivers twice": () => {
    onQueue(async (messages, send) => {
      await send(messages)
      return send(messages)
    })
    return undefined
  },
  "delivers the last first": () => {
    const kept: { body: unknown }[] = []
    let sendOn: (messages: typeof kept) => Promise<unknown> = () => Promise.resolve()
    onQueue((messages, send) => {
      kept.unshift(...messages)
      sendOn = send
      return Promise.resolve()
    })
    return () => sendOn(kept)
  },
  stops: () => {
    onQueue(() => Promise.reject(new Error("Queue sendBatch failed: 503 Service Unavailable")))
    return undefined
  },
}

/** Generation ids that a destination received, and calls of the provider. */
function mockNetwork() {
  const received = new Set<string>()
  const providerCalls: string[] = []
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const request = new Request(input, init)
    const { url, headers, signal } = request
    const text = await request.text()
    if (url.includes("/v1/chat/completions")) {
      providerCalls.push(url)
      return respond({ url, headers, signal, body: JSON.parse(text) as Record<string, unknown> })
    }
    for (const [id] of text.matchAll(/gen-[0-9a-f-]{36}/g)) received.add(id)
    return new Response("fine")
  })
  return { received, providerCalls }
}

async function generationIds({ organizationId }: Workspace): Promise<string[]> {
  const { results } = await env.DB.prepare("SELECT id FROM generations WHERE organization_id = ?")
    .bind(organizationId)
    .all<{ id: string }>()
  return results.map(({ id }) => id)
}

test.each(Object.entries(faults))("a queue that %s", async (_, start) => {
  vi.spyOn(console, "error").mockImplementation(() => {})
  const workspace = await newWorkspace()
  const model = "played/m70"
  await listen(workspace, "http://127.0.0.1:9/faults")
  const { received, providerCalls } = mockNetwork()
  const cell = { workspace, env, model, internId: await newIntern(workspace, model) }
  invalidateOrganization(workspace.organizationId)
  const end = start()
  for (const callPath of callPaths) expect(await callPath.call(cell), callPath.name).toEqual({ is: "served" })
  // JSON and stream make one call each; the agent loop and the intern's turn, two.
  expect(providerCalls).toHaveLength(6)
  await eventually(async () => {
    await workspace.ledger.balance()
    await runDurableObjectAlarm(workspace.object)
    expect(await generationIds(workspace)).toHaveLength(6)
  })
  expect((await workspace.ledger.balance()).spentNano).toBe(6 * COST)
  expect(await openHolds(workspace)).toEqual([])

  await end?.()
  restoreQueue()
  const ids = await generationIds(workspace)
  await eventually(async () => {
    await runDurableObjectAlarm(workspace.object)
    expect(ids.filter((id) => !received.has(id))).toEqual([])
  })
})
