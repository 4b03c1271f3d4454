import { runInDurableObject } from "cloudflare:test"
import { expect, test } from "vitest"
import { Outbox } from "../../durable-objects/ledger/outbox.ts"
import { type BroadcastMessage, MAX_CALLS_PER_MESSAGE, MAX_CONTENT_PER_MESSAGE } from "../../src/config/messages.ts"
import type { Settled } from "../../src/ledger/generation.ts"
import { env } from "cloudflare:workers"
import { newWorkspace } from "../support/world.ts"
import { ANSWERED } from "./generation.ts"

/** Calls that the ledger keeps until they are sorted to destinations. */

type Calls = Extract<BroadcastMessage, { kind: "calls" }>

async function withOutbox(work: (world: ReturnType<typeof newOutbox>) => Promise<void>): Promise<void> {
  const { object, organizationId } = await newWorkspace()
  await runInDurableObject(object, async (_, { storage }) => work(newOutbox(storage.sql, organizationId)))
}

function newOutbox(sql: SqlStorage, organizationId: string) {
  const outbox = new Outbox(sql)
  const sent: Calls[] = []
  const queue = {
    sendBatch: async (messages: { body: Calls }[]) => void sent.push(...messages.map(({ body }) => body)),
  } as unknown as Queue<BroadcastMessage>
  const add = async (workspaceId: string, contents: readonly (string | undefined)[]) => {
    const broadcast = { region: "global", user: null, trace: null, hasContent: true }
    const calls = contents.map((content) => ({ id: `gen-${crypto.randomUUID()}`, content }))
    const generations = calls.map(({ id }): Settled => ({
      ...ANSWERED,
      id,
      organizationId,
      workspaceId,
      broadcast,
      upstreamId: null,
    }))
    const known = calls.flatMap(({ id, content }) => (content === undefined ? [] : [[id, content] as const]))
    outbox.add(generations, new Map(known))
    await outbox.flush(env.DB)
    return calls.map(({ id }) => id)
  }
  /** The ids of the messages sent at this time, and the time until the next ones. */
  const publish = async (now: number) => {
    const waitMs = await outbox.broadcast(queue, now)
    return { waitMs, messages: sent.splice(0).map(({ generationIds }) => generationIds) }
  }
  return { sql, broadcasts: outbox.broadcasts, add, publish, queue }
}

test("a message has a bounded number of calls and size of content, with external content counted as 40,000", () =>
  withOutbox(async ({ add, publish }) => {
    const ids = await add("short", Array<string>(MAX_CALLS_PER_MESSAGE + 1).fill("{}"))
    expect((await publish(0)).messages).toEqual([ids.slice(0, MAX_CALLS_PER_MESSAGE), ids.slice(MAX_CALLS_PER_MESSAGE)])
    const third = "x".repeat(MAX_CONTENT_PER_MESSAGE / 3)
    const long = await add("long", [third, third, third, third])
    expect((await publish(0)).messages).toEqual([long.slice(0, 3), long.slice(3)])
    const elsewhere = await add("elsewhere", Array<undefined>(26).fill(undefined))
    expect((await publish(0)).messages).toEqual([elsewhere.slice(0, 25), elsewhere.slice(25)])
  }))

test("calls and their content are kept until confirmed, and returned only for their ids", () =>
  withOutbox(async ({ add, broadcasts, publish, sql }) => {
    const [first = "", second = "", third = ""] = await add("w", ['{"a":1}', undefined, '{"c":3}'])
    expect(broadcasts.unconfirmed([first])).toEqual([])
    await publish(0)
    expect(broadcasts.unconfirmed([first, second, "gen-of-nobody"])).toEqual([
      { id: first, content: '{"a":1}' },
      { id: second, content: null },
    ])
    broadcasts.confirm([first, second], 0)
    expect(broadcasts.unconfirmed([first, second, third])).toEqual([{ id: third, content: '{"c":3}' }])
    expect(sql.exec("SELECT content FROM contents").toArray()).toEqual([{ content: '{"c":3}' }])
  }))

test("a workspace with failing destinations pauses without delaying others, until a confirmation ends the pause", () =>
  withOutbox(async ({ add, broadcasts, publish }) => {
    const [tried = ""] = await add("failing", ["{}"])
    await publish(0)
    broadcasts.confirm([tried], 1_000, { workspaceId: "failing", pauseMs: 5_000 })
    const waiting = await add("failing", Array<string>(150).fill("{}"))
    const others = await add("well", ["{}"])
    expect(await publish(1_001)).toEqual({ messages: [others], waitMs: 4_999 })
    broadcasts.confirm(others, 1_002, { workspaceId: "well", pauseMs: 0 })
    // All of them at once, then it pauses again: there was no confirmation yet.
    expect((await publish(6_000)).messages).toEqual([waiting.slice(0, 100), waiting.slice(100)])
    const [next = ""] = await add("failing", ["{}"])
    expect((await publish(10_999)).messages).toEqual([])
    broadcasts.confirm(waiting, 11_000, { workspaceId: "failing", pauseMs: 0 })
    expect((await publish(11_000)).messages).toEqual([[next]])
  }))

test("content of unconfirmed messages is kept for 17 days, the call for longer", () =>
  withOutbox(async ({ add, broadcasts, publish, sql }) => {
    const [id = ""] = await add("w", ["{}"])
    let now = 0
    for (const until = 16 * 86_400_000; now < until;) now += (await publish(now)).waitMs ?? Infinity
    expect(broadcasts.unconfirmed([id])).toEqual([{ id, content: "{}" }])
    for (const until = 18 * 86_400_000; now < until;) now += (await publish(now)).waitMs ?? Infinity
    expect(sql.exec("SELECT content FROM contents").toArray()).toEqual([])
    expect(broadcasts.unconfirmed([id])).toEqual([{ id, content: null }])
  }))
