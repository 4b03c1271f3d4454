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
import { sortCalls } from "../../src/observability/delivery/sort.ts"
import { uuidOf } from "../../src/support/ids.ts"
import { runs } from "../support/runs.ts"
import { newWorkspace, type Workspace } from "../support/world.ts"
import { Fuse, fused } from "./fuse.ts"
import { ANSWERED } from "./generation.ts"
import { listen, newReceiver, playReceivers, spansIn } from "./receiver.ts"

/**
 * Between the charge of a call and its delivery everything may end at any operation, come again, or be lost: the real
 * outbox, sorter and backlog, with a queue of the test's own.
 */

beforeAll(() => {
  playReceivers()
  vi.spyOn(console, "error").mockImplementation(() => {})
  vi.spyOn(console, "warn").mockImplementation(() => {})
  return () => vi.restoreAllMocks()
})

type World = {
  workspace: Workspace
  destinationId: string
  receiver: ReturnType<typeof newReceiver>
  sql: SqlStorage
  outbox: Outbox
  queue: Extract<BroadcastMessage, { kind: "calls" }>[]
  /** Text of each call by its id, and content that is still to be saved. */
  said: Map<string, string>
  unsaved: Map<string, string>
  /** Keys in R2 that were written, and those, or their ends, that work which ended early has left. */
  written: Set<string>
  abandoned: Set<string>
  now: number
}

function envOf(world: World, fuse: Fuse): { env: Env; written: string[] } {
  const written: string[] = []
  const files = new Proxy(fused(env.FILES, ["get", "put", "delete"], fuse), {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (name !== "put") return value
      return (key: string, body: string) => {
        written.push(key)
        world.written.add(key)
        return (value as R2Bucket["put"])(key, body)
      }
    },
  })
  const ledger = {
    unconfirmedBroadcasts: (ids: string[]) => fuse.run(async () => world.outbox.broadcasts.unconfirmed(ids)),
    confirmBroadcasts: (ids: string[], pace: BroadcastPace) =>
      fuse.run(async () => world.outbox.broadcasts.confirm(ids, world.now, pace)),
  }
  const named = (stub: object) => ({ idFromName: (name: string) => name, get: () => stub })
  return {
    env: {
      ...env,
      DB: fused(env.DB, [], fuse),
      FILES: files,
      LEDGER: named(ledger),
      DELIVERY: named({ wake: () => fuse.run(() => Promise.resolve()) }),
    } as unknown as Env,
    written,
  }
}

async function charge(world: World, count: number, isLong: boolean): Promise<void> {
  const { workspace, outbox, said, unsaved, now } = world
  const calls = Array.from({ length: count }, () => {
    const id = `gen-${crypto.randomUUID()}`
    const text = `What ${id} says`
    said.set(id, text)
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
  // A report that comes twice.
  outbox.add(generations, contents)
  await outbox.flush(env.DB)
}

/** Content that is an object of its own comes later than the charge. */
async function saveLong(world: World, most: number): Promise<void> {
  const { env: saving } = envOf(world, new Fuse(-1, false))
  for (const [id, content] of [...world.unsaved].slice(0, most)) {
    await saveCallContent(saving.FILES, id, content)
    world.unsaved.delete(id)
  }
}

async function publish({ outbox, queue, now }: World, isAway: boolean): Promise<void> {
  const target = {
    sendBatch: async (messages: { body: BroadcastMessage }[]) => {
      if (isAway) throw new Error("The queue is away.")
      for (const { body } of messages) if (body.kind === "calls") queue.push(body)
    },
  }
  await outbox.broadcast(target as unknown as Queue<BroadcastMessage>, now)
}

/** True where it came to its end. */
async function attempt(world: World, fuse: Fuse, work: (env: Env) => Promise<unknown>): Promise<boolean> {
  const { env: here, written } = envOf(world, fuse)
  try {
    await work(here)
    return true
  } catch {
    for (const key of written) world.abandoned.add(key)
    return false
  }
}

async function sort(world: World, fuse: Fuse, isKept: boolean): Promise<void> {
  const message = world.queue.shift()
  if (!message) return
  let isDone = false
  const isWhole = await attempt(world, fuse, async (here) => {
    isDone = (await sortCalls(message, here, world.now)).waitMs === null
  })
  // Long content that it was to remove.
  if (!isWhole) for (const id of message.generationIds) world.abandoned.add(uuidOf(id))
  if (!isWhole || !isDone || isKept) world.queue.push(message)
}

async function drain(world: World, fuse: Fuse): Promise<void> {
  const { organizationId } = world.workspace
  const { destinationId } = world
  const isWhole = await attempt(world, fuse, (here) =>
    drainDestination({ organizationId, destinationId }, here, () => world.now),
  )
  // Content of batches that it had delivered.
  if (!isWhole) for (const key of world.written) world.abandoned.add(key)
}

const fuses = fc.record({ operations: fc.integer({ min: -1, max: 9 }), isAfter: fc.boolean() })
const burnt = ({ operations, isAfter }: { operations: number; isAfter: boolean }) => new Fuse(operations, isAfter)
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

async function take(world: World, step: Step): Promise<void> {
  if (step.do === "charge") await charge(world, step.count, step.isLong)
  else if (step.do === "publish") await publish(world, step.isAway)
  else if (step.do === "sort") await sort(world, burnt(step.fuse), step.isKept)
  else if (step.do === "drain") await drain(world, burnt(step.fuse))
  else if (step.do === "save") await saveLong(world, step.most)
  else if (step.do === "turn") turn(world, step.isUp)
  else if (step.do === "wait") await wait(world)
  else {
    world.outbox = new Outbox(world.sql)
    if (step.losesQueue) world.queue.length = 0
  }
  world.now += 500
}

/** Until content that is not stored is not waited for any more: what is still to be saved is saved first. */
async function wait(world: World): Promise<void> {
  await saveLong(world, Infinity)
  world.now += 40_000
}

function turn({ receiver }: World, isUp: boolean): void {
  receiver.turn(() => new Response(null, { status: isUp ? 200 : 503 }))
}

async function backlogOf({ destinationId }: World): Promise<number> {
  const query = "SELECT count(*) AS rows FROM broadcast_batches WHERE destination_id = ?"
  return (await env.DB.prepare(query).bind(destinationId).first<{ rows: number }>())?.rows ?? 0
}

/** All is well again, until nothing waits. */
async function recover(world: World): Promise<void> {
  const whole = () => new Fuse(-1, false)
  turn(world, true)
  await saveLong(world, Infinity)
  for (let rounds = 0; rounds < 60; rounds++) {
    await publish(world, false)
    for (let left = world.queue.length; left > 0; left--) await sort(world, whole(), false)
    await drain(world, whole())
    world.now += 60_000
    if (world.outbox.broadcasts.count() + world.queue.length + (await backlogOf(world)) === 0) return
  }
  throw new Error("It does not come to an end.")
}

async function expectWhole({ said, receiver, written, abandoned, sql }: World): Promise<void> {
  const received = new Map<string, Set<string>>()
  for (const { at } of spansIn(receiver.got.splice(0))) {
    const id = at["gateway.generation_id"] as string
    const texts = received.get(id) ?? new Set()
    received.set(id, texts.add(JSON.stringify(at["gen_ai.output.messages"])))
  }
  expect([...received.keys()].toSorted()).toEqual([...said.keys()].toSorted())
  for (const [id, texts] of received) {
    expect(texts.size, id).toBe(1)
    expect([...texts][0]).toContain(said.get(id))
  }
  expect(sql.exec("SELECT * FROM contents").toArray()).toEqual([])
  // What work that ended early has written, or was to remove, goes with its day.
  const left = [...written].filter((key) => !abandoned.has(key) && !abandoned.has(key.split("/").at(-1) ?? ""))
  const objects = await Promise.all(left.map((key) => env.FILES.head(key)))
  expect(objects.filter((found) => found !== null)).toEqual([])
}

test.each([
  ["one destination", 1],
  ["one of two destinations", 2],
])("each call comes whole to %s, whatever ends, comes again or is lost on the way", async (_, count) => {
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
        const maps = { said: new Map(), unsaved: new Map(), written: new Set<string>(), abandoned: new Set<string>() }
        const base = { workspace, destinationId, receiver, sql, outbox: new Outbox(sql), now: Date.now() }
        const world: World = { ...base, ...maps, queue: [] }
        turn(world, isUp)
        for (const step of sequence) await take(world, step)
        await recover(world)
        await expectWhole(world)
      }),
      { numRuns: runs(4) },
    )
  })
})
