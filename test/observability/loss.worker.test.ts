import { runInDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"
import * as fc from "fast-check"
import { beforeAll, expect, test, vi } from "vitest"
import { Outbox } from "../../durable-objects/ledger/outbox.ts"
import type { Env } from "../../src/config/env.ts"
import type { BroadcastMessage } from "../../src/config/messages.ts"
import type { BroadcastPace } from "../../src/ledger/protocol.ts"
import { saveCallContent, toCallContent } from "../../src/observability/call-content.ts"
import { drainDestination } from "../../src/observability/delivery/backlog.ts"
import { distributeCalls } from "../../src/observability/delivery/distribute.ts"
import { uuidOf } from "../../src/support/ids.ts"
import { runs } from "../support/runs.ts"
import { newWorkspace, type Workspace } from "../support/world.ts"
import { Fuse, withFuse } from "./fuse.ts"
import { ANSWERED } from "./generation.ts"
import { listen, newReceiver, mockReceivers, spansIn } from "./receiver.ts"

/**
 * Between the charge of a call and its delivery every step may crash, repeat or be lost: the real outbox, sorter and
 * backlog with a queue in memory.
 */

beforeAll(() => {
  mockReceivers()
  vi.spyOn(console, "error").mockImplementation(() => {})
  vi.spyOn(console, "warn").mockImplementation(() => {})
  return () => vi.restoreAllMocks()
})

type Simulation = {
  workspace: Workspace
  destinationId: string
  receiver: ReturnType<typeof newReceiver>
  sql: SqlStorage
  outbox: Outbox
  queue: Extract<BroadcastMessage, { kind: "calls" }>[]
  /** Text of each call by its id, and content that is still to be saved. */
  chargedTexts: Map<string, string>
  unsaved: Map<string, string>
  /** Keys that were written to R2, and those, or their suffixes, that crashed work left there. */
  written: Set<string>
  abandoned: Set<string>
  now: number
}

function envOf(simulation: Simulation, fuse: Fuse): { env: Env; written: string[] } {
  const written: string[] = []
  const files = new Proxy(withFuse(env.FILES, ["get", "put", "delete"], fuse), {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (name !== "put") return value
      return (key: string, body: string) => {
        written.push(key)
        simulation.written.add(key)
        return (value as R2Bucket["put"])(key, body)
      }
    },
  })
  const ledger = {
    unconfirmedBroadcasts: (ids: string[]) => fuse.run(async () => simulation.outbox.broadcasts.unconfirmed(ids)),
    confirmBroadcasts: (ids: string[], pace: BroadcastPace) =>
      fuse.run(async () => simulation.outbox.broadcasts.confirm(ids, simulation.now, pace)),
  }
  const named = (stub: object) => ({ idFromName: (name: string) => name, get: () => stub })
  return {
    env: {
      ...env,
      DB: withFuse(env.DB, [], fuse),
      FILES: files,
      LEDGER: named(ledger),
      DELIVERY: named({ wake: () => fuse.run(() => Promise.resolve()) }),
    } as unknown as Env,
    written,
  }
}

async function charge(simulation: Simulation, count: number, isLong: boolean): Promise<void> {
  const { workspace, outbox, chargedTexts, unsaved, now } = simulation
  const calls = Array.from({ length: count }, () => {
    const id = `gen-${crypto.randomUUID()}`
    const text = `What ${id} says`
    chargedTexts.set(id, text)
    const output = { content: text, reasoning: "" }
    return { id, content: JSON.stringify(toCallContent({ messages: [{ role: "user", content: text }], output })) }
  })
  const { organizationId, workspaceId } = workspace
  const broadcast = { region: "global", user: null, trace: null, hasContent: true }
  const generations = calls.map(({ id }) => ({
    ...ANSWERED,
    id,
    organizationId,
    workspaceId,
    broadcast,
    createdAt: now,
    settledAt: now,
    upstreamId: null,
  }))
  if (isLong) for (const { id, content } of calls) unsaved.set(id, content)
  const contents = new Map(isLong ? [] : calls.map(({ id, content }) => [id, content]))
  outbox.add(generations, contents)
  // A repeated report.
  outbox.add(generations, contents)
  await outbox.flush(env.DB)
}

/** Content in a separate object is saved after the charge. */
async function saveLong(simulation: Simulation, most: number): Promise<void> {
  const { env: saving } = envOf(simulation, new Fuse(-1, false))
  for (const [id, content] of [...simulation.unsaved].slice(0, most)) {
    await saveCallContent(saving.FILES, id, content)
    simulation.unsaved.delete(id)
  }
}

async function publish({ outbox, queue, now }: Simulation, isAway: boolean): Promise<void> {
  const target = {
    sendBatch: async (messages: { body: BroadcastMessage }[]) => {
      if (isAway) throw new Error("The queue is away.")
      for (const { body } of messages) if (body.kind === "calls") queue.push(body)
    },
  }
  await outbox.broadcast(target as unknown as Queue<BroadcastMessage>, now)
}

/** True if it completed. */
async function attempt(simulation: Simulation, fuse: Fuse, work: (env: Env) => Promise<unknown>): Promise<boolean> {
  const { env: here, written } = envOf(simulation, fuse)
  try {
    await work(here)
    return true
  } catch {
    for (const key of written) simulation.abandoned.add(key)
    return false
  }
}

async function sort(simulation: Simulation, fuse: Fuse, isKept: boolean): Promise<void> {
  const message = simulation.queue.shift()
  if (!message) return
  let isDone = false
  const isComplete = await attempt(simulation, fuse, async (here) => {
    isDone = (await distributeCalls(message, here, simulation.now)).waitMs === null
  })
  // Long content that it would have removed.
  if (!isComplete) for (const id of message.generationIds) simulation.abandoned.add(uuidOf(id))
  if (!isComplete || !isDone || isKept) simulation.queue.push(message)
}

async function drain(simulation: Simulation, fuse: Fuse): Promise<void> {
  const { organizationId } = simulation.workspace
  const { destinationId } = simulation
  const isComplete = await attempt(simulation, fuse, (here) =>
    drainDestination({ organizationId, destinationId }, here, () => simulation.now),
  )
  // Content of batches that it had delivered.
  if (!isComplete) for (const key of simulation.written) simulation.abandoned.add(key)
}

const fuses = fc.record({ operations: fc.integer({ min: -1, max: 9 }), isAfter: fc.boolean() })
const fuseOf = ({ operations, isAfter }: { operations: number; isAfter: boolean }) => new Fuse(operations, isAfter)
const steps = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("charge" as const),
      count: fc.integer({ min: 1, max: 4 }),
      isLong: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("publish" as const), isAway: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("sort" as const), fuse: fuses, isKept: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("drain" as const), fuse: fuses }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("save" as const), most: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("turn" as const), isUp: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("restart" as const), losesQueue: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("wait" as const) }) },
)
type Step = typeof steps extends fc.Arbitrary<infer T> ? T : never

async function take(simulation: Simulation, step: Step): Promise<void> {
  if (step.do === "charge") await charge(simulation, step.count, step.isLong)
  else if (step.do === "publish") await publish(simulation, step.isAway)
  else if (step.do === "sort") await sort(simulation, fuseOf(step.fuse), step.isKept)
  else if (step.do === "drain") await drain(simulation, fuseOf(step.fuse))
  else if (step.do === "save") await saveLong(simulation, step.most)
  else if (step.do === "turn") turn(simulation, step.isUp)
  else if (step.do === "wait") await wait(simulation)
  else {
    simulation.outbox = new Outbox(simulation.sql)
    if (step.losesQueue) simulation.queue.length = 0
  }
  simulation.now += 500
}

/** Until missing content is no longer waited for: unsaved content is saved first. */
async function wait(simulation: Simulation): Promise<void> {
  await saveLong(simulation, Infinity)
  simulation.now += 40_000
}

function turn({ receiver }: Simulation, isUp: boolean): void {
  receiver.turn(() => new Response(null, { status: isUp ? 200 : 503 }))
}

async function backlogOf({ destinationId }: Simulation): Promise<number> {
  const query = "SELECT count(*) AS rows FROM broadcast_batches WHERE destination_id = ?"
  return (await env.DB.prepare(query).bind(destinationId).first<{ rows: number }>())?.rows ?? 0
}

/** Everything works again, until the backlog is empty. */
async function recover(simulation: Simulation): Promise<void> {
  const unbroken = () => new Fuse(-1, false)
  turn(simulation, true)
  await saveLong(simulation, Infinity)
  for (let rounds = 0; rounds < 60; rounds++) {
    await publish(simulation, false)
    for (let left = simulation.queue.length; left > 0; left--) await sort(simulation, unbroken(), false)
    await drain(simulation, unbroken())
    simulation.now += 60_000
    if (simulation.outbox.broadcasts.count() + simulation.queue.length + (await backlogOf(simulation)) === 0) return
  }
  throw new Error("It does not come to an end.")
}

async function expectComplete({ chargedTexts, receiver, written, abandoned, sql }: Simulation): Promise<void> {
  const received = new Map<string, Set<string>>()
  for (const { at } of spansIn(receiver.got.splice(0))) {
    const id = at["gateway.generation_id"] as string
    const texts = received.get(id) ?? new Set()
    received.set(id, texts.add(JSON.stringify(at["gen_ai.output.messages"])))
  }
  expect([...received.keys()].toSorted()).toEqual([...chargedTexts.keys()].toSorted())
  for (const [id, texts] of received) {
    expect(texts.size, id).toBe(1)
    expect([...texts][0]).toContain(chargedTexts.get(id))
  }
  expect(sql.exec("SELECT * FROM contents").toArray()).toEqual([])
  // Objects left by crashed work expire with their day.
  const left = [...written].filter((key) => !abandoned.has(key) && !abandoned.has(key.split("/").at(-1) ?? ""))
  const objects = await Promise.all(left.map((key) => env.FILES.head(key)))
  expect(objects.filter((found) => found !== null)).toEqual([])
}

test.each([
  ["one destination", 1],
  ["one of two destinations", 2],
])("each call reaches %s completely, despite any crashes, repetitions and losses", async (_, count) => {
  const workspace = await newWorkspace()
  const receiver = newReceiver()
  const { id: destinationId } = await listen(workspace, receiver.url)
  for (let more = 1; more < count; more++) await listen(workspace, newReceiver().url)
  await runInDurableObject(workspace.object, async (_ledger, { storage: { sql } }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 20, maxLength: 60 }), fc.boolean(), async (sequence, isUp) => {
        const failures = isUp ? 0 : 1
        await env.DB.prepare("UPDATE destinations SET failures = ?, paused_until = 0 WHERE id = ?")
          .bind(failures, destinationId)
          .run()
        const maps = {
          chargedTexts: new Map(),
          unsaved: new Map(),
          written: new Set<string>(),
          abandoned: new Set<string>(),
        }
        const base = { workspace, destinationId, receiver, sql, outbox: new Outbox(sql), now: Date.now() }
        const simulation: Simulation = { ...base, ...maps, queue: [] }
        turn(simulation, isUp)
        for (const step of sequence) await take(simulation, step)
        await recover(simulation)
        await expectComplete(simulation)
      }),
      { numRuns: runs(4) },
    )
  })
})
