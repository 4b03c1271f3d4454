import { createExecutionContext, createMessageBatch, getQueueResult } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { expect, test, vi } from "vitest"
import { consumeQueue } from "../../src/app/queue.ts"
import type { BroadcastMessage } from "../../src/config/messages.ts"
import { insertBatch } from "../../src/observability/delivery/store.ts"
import { newWorkspace, type Workspace } from "../support/world.ts"
import { destinationOf, listen } from "./receiver.ts"

async function consume(queue: string, bodies: readonly BroadcastMessage[], change: object = {}) {
  const messages = bodies.map((body, at) => ({ id: `m${at}`, timestamp: new Date(), attempts: 1, body }))
  const batch = createMessageBatch<BroadcastMessage>(queue, messages)
  const context = createExecutionContext()
  await consumeQueue(batch, { ...env, ...change })
  const { explicitAcks, retryMessages } = await getQueueResult(batch, context)
  return { acked: explicitAcks, retried: retryMessages }
}

const calls = ({ organizationId, workspaceId }: Workspace, since = Date.now()): BroadcastMessage => ({
  kind: "calls",
  organizationId,
  workspaceId,
  generationIds: ["gen-01a1fed6-f156-71f0-9e2f-d3a472f3d414"],
  since,
})

test("a message that fails with an internal error is retried, and the others are acknowledged", async () => {
  const errors = vi.spyOn(console, "error").mockImplementation(() => {})
  const workspace = await newWorkspace()
  await listen(workspace, "http://127.0.0.1:9/nobody")
  let requests = 0
  const DB = new Proxy(env.DB, {
    get(target, name) {
      if (name !== "prepare") return Reflect.get(target, name) as unknown
      // The first query reads the jurisdiction for all messages.
      if (requests++ === 1) throw new Error("The database is away.")
      return target.prepare.bind(target)
    },
  })
  const result = await consume("gateway-broadcast", [calls(workspace), calls(workspace)], { DB })
  expect(result).toMatchObject({ acked: ["m1"], retried: [{ msgId: "m0" }] })
  expect(errors).toHaveBeenCalled()
  errors.mockRestore()
})

test("dead-lettered messages leave batches pending, and calls are sorted again for up to four days", async () => {
  const errors = vi.spyOn(console, "error").mockImplementation(() => {})
  const workspace = await newWorkspace()
  const { organizationId, workspaceId } = workspace
  const { id } = await listen(workspace, "http://127.0.0.1:9/nobody")
  const now = Date.now()
  const batchId = crypto.randomUUID()
  await insertBatch(env.DB, {
    id: batchId,
    organization_id: organizationId,
    workspace_id: workspaceId,
    destination_id: id,
    generation_ids: "[]",
    calls: 3,
    state: "pending",
    attempts: 100,
    rejections: 0,
    since: now,
    due_at: now,
    is_sorted: 1,
  })
  const sent: unknown[] = []
  const BROADCAST = { send: async (...one: unknown[]) => void sent.push(one) }
  const recent = calls(workspace)
  const messages = [{ kind: "batch" as const, organizationId, batchId }, recent, calls(workspace, now - 5 * 86_400_000)]
  expect(await consume("gateway-broadcast-dead", messages, { BROADCAST })).toEqual({
    acked: ["m0", "m1", "m2"],
    retried: [],
  })
  expect(sent).toEqual([[recent, { delaySeconds: 3_600 }]])
  expect(await destinationOf(workspace, id)).toMatchObject({ dead_letters: 0 })
  errors.mockRestore()
})
