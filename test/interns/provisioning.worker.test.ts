import { env } from "cloudflare:workers"
import { runInDurableObject } from "cloudflare:test"
import { expect, test } from "vitest"
import { InternLifecycle } from "../../durable-objects/intern/lifecycle.ts"
import { RunStore } from "../../durable-objects/intern/run-store.ts"
import type { InternHost } from "../../src/interns/hosts/host.ts"
import { internObject } from "../support/intern-object.ts"
import { newDaemonIntern } from "../support/daemon.ts"
import { newWorkspace, expectJson, type Workspace } from "../support/world.ts"

const host = {
  isUp: true,
  epoch: "e",
  startLabel: "Starting",
  lateMessage: "It is late.",
  start: () => Promise.resolve(),
  stop: () => Promise.resolve(),
  destroy: () => Promise.resolve(true),
  send: () => undefined,
} satisfies InternHost

/** What else an object is told of its intern. */
const REST = { host: "daemon", apiBase: "http://gateway.test/api/v1" } as const

type Write = () => Promise<D1Result>

/** The life of an intern on its object's storage. `record` does as it likes with the write that says that it runs. */
async function living(
  workspace: Workspace,
  record: (write: Write) => Promise<D1Result>,
  use: (lifecycle: InternLifecycle, clock: { now: number }) => Promise<void>,
): Promise<string> {
  const { id } = await newDaemonIntern(workspace)
  const wrapped = (statement: D1PreparedStatement, values: unknown[] = []): D1PreparedStatement =>
    new Proxy(statement, {
      get: (target, name) => {
        if (name === "bind") return (...given: unknown[]) => wrapped(target.bind(...given), given)
        if (name === "run" && values.includes("running")) return () => record(() => target.run())
        const member: unknown = Reflect.get(target, name, target)
        return typeof member === "function" ? (member.bind(target) as unknown) : member
      },
    })
  const DB = { prepare: (text: string) => wrapped(env.DB.prepare(text)) } as D1Database
  await runInDurableObject(internObject(id), async (_, { storage }) => {
    const clock = { now: Date.now() }
    const around = {
      host: () => host,
      now: () => clock.now,
      stopRuns: () => undefined,
      clear: () => Promise.resolve(),
      onRunning: () => undefined,
    }
    const lifecycle = new InternLifecycle(new RunStore(storage.sql), { ...env, DB }, around)
    lifecycle.setIdentity({ id, organizationId: workspace.organizationId, workspaceId: workspace.workspaceId, ...REST })
    await use(lifecycle, clock)
  })
  return id
}

const statusOf = async (id: string, { as }: Workspace) =>
  (await expectJson<{ status: string }>(200, as.get(`/interns/${id}`))).status

test("an intern takes prompts from the moment its record says that it runs", async () => {
  const workspace = await newWorkspace()
  let refusal: unknown = "not looked at"
  let booted: InternLifecycle | undefined
  const look = async (write: Write) => {
    const result = await write()
    try {
      booted?.requireRunning()
      refusal = undefined
    } catch (thrown) {
      refusal = thrown
    }
    return result
  }
  const id = await living(workspace, look, async (lifecycle) => {
    booted = lifecycle
    await lifecycle.provision()
    expect(lifecycle.wakeAt).toBeNull()
  })
  expect(refusal).toBeUndefined()
  expect(await statusOf(id, workspace)).toBe("running")
})

test("an intern whose record could not be written runs, and its record says so as soon as it can", async () => {
  const workspace = await newWorkspace()
  let isDown = true
  const failing = (write: Write) => (isDown ? Promise.reject(new Error("The database is away.")) : write())
  const id = await living(workspace, failing, async (lifecycle, clock) => {
    await lifecycle.provision()
    for (let tries = 0; tries < 5; tries += 1) {
      lifecycle.requireRunning()
      expect(lifecycle.wakeAt).toBeGreaterThan(clock.now)
      clock.now = lifecycle.wakeAt ?? 0
      await lifecycle.wake()
    }
    isDown = false
    clock.now = lifecycle.wakeAt ?? 0
    await lifecycle.wake()
    expect(lifecycle.wakeAt).toBeNull()
  })
  expect(await statusOf(id, workspace)).toBe("running")
})

test("an intern that is stopped while its record is written stays stopped", async () => {
  const workspace = await newWorkspace()
  let booted: InternLifecycle | undefined
  const stopping = async (write: Write) => {
    await booted?.suspend()
    return write()
  }
  await living(workspace, stopping, async (lifecycle) => {
    booted = lifecycle
    await lifecycle.provision()
    expect(() => lifecycle.requireRunning()).toThrow(/not running/)
    expect(lifecycle.wakeAt).toBeNull()
  })
})
