import { env } from "cloudflare:workers"
import { runInDurableObject } from "cloudflare:test"
import { afterEach, expect, test, vi } from "vitest"
import { InternLifecycle } from "../../durable-objects/intern/lifecycle.ts"
import { RunStore } from "../../durable-objects/intern/run-store.ts"
import type { InternHost } from "../../src/interns/hosts/host.ts"
import { internObject } from "../support/intern-object.ts"
import { newDaemonIntern } from "../support/daemon.ts"
import { eventually } from "../support/eventually.ts"
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

afterEach(() => {
  vi.restoreAllMocks()
})

/** The other fields of the identity that an object receives. */
const REST = { host: "daemon", apiBase: "http://gateway.test/api/v1" } as const

type Write = () => Promise<D1Result>

/** The lifecycle of an intern on the storage of its object. `record` wraps the write of the status `running`. */
async function living(
  workspace: Workspace,
  record: (write: Write) => Promise<D1Result>,
  use: (lifecycle: InternLifecycle, clock: { now: number }) => Promise<void>,
): Promise<string> {
  const { id } = await newDaemonIntern(workspace)
  const inner = new WeakMap<D1PreparedStatement, D1PreparedStatement>()
  const wrapped = (statement: D1PreparedStatement, values: unknown[] = []): D1PreparedStatement => {
    const proxy = new Proxy(statement, {
      get: (target, name) => {
        if (name === "bind") return (...given: unknown[]) => wrapped(target.bind(...given), given)
        if (name === "run" && values.includes("running")) return () => record(() => target.run())
        const member: unknown = Reflect.get(target, name, target)
        return typeof member === "function" ? (member.bind(target) as unknown) : member
      },
    })
    inner.set(proxy, statement)
    return proxy
  }
  const batch = (all: D1PreparedStatement[]) => env.DB.batch(all.map((one) => inner.get(one) ?? one))
  const DB = { prepare: (text: string) => wrapped(env.DB.prepare(text)), batch } as D1Database
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

test("an intern accepts prompts as soon as its record has the status running", async () => {
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

test("an intern whose record could not be written runs, and the write is retried until it succeeds", async () => {
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

test("an intern that is suspended during the write of its status stays suspended", async () => {
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

test("a host that exits is restarted up to three starts within ten minutes, and a stable run resets the count", async () => {
  const workspace = await newWorkspace()
  let starts = 0
  vi.spyOn(host, "start").mockImplementation(() => Promise.resolve(void (starts += 1)))
  const id = await living(
    workspace,
    (write) => write(),
    async (lifecycle, clock) => {
      const restarted = async () => {
        await lifecycle.hostEnded("It ended with 137.")
        expect(() => lifecycle.requireRunning()).toThrow("not running")
        clock.now = Math.max(clock.now, lifecycle.wakeAt ?? 0)
        await lifecycle.wake()
      }
      await lifecycle.provision()
      await restarted()
      await restarted()
      lifecycle.requireRunning()
      expect(starts).toBe(3)
      clock.now += 600_000
      await restarted()
      lifecycle.requireRunning()
      await restarted()
      await restarted()
      expect(starts).toBe(6)
      await lifecycle.hostEnded("It ended with 137.")
      expect(lifecycle.wakeAt).toBeNull()
      await lifecycle.hostEnded("It ended with 137.")
      expect(starts).toBe(6)
    },
  )
  const record = await expectJson<{ status: string; last_failure_message: string }>(
    200,
    workspace.as.get(`/interns/${id}`),
  )
  expect(record).toMatchObject({ status: "failed", last_failure_message: "It ended with 137." })
})

test("a host that exits after a suspend is not restarted", async () => {
  const workspace = await newWorkspace()
  await living(
    workspace,
    (write) => write(),
    async (lifecycle) => {
      await lifecycle.provision()
      await lifecycle.suspend()
      await lifecycle.hostEnded("It ended with 0.")
      expect(lifecycle.wakeAt).toBeNull()
    },
  )
})

/** A host whose starts end when the test ends them. */
function slowHost() {
  const starts: { instructions: string | null; end: () => void }[] = []
  const calls: string[] = []
  const record = <T>(call: string, result: T) => {
    calls.push(call)
    return Promise.resolve(result)
  }
  const slow = {
    ...host,
    start: ({ instructions }: { instructions: string | null }) =>
      new Promise<void>((resolve) => {
        calls.push("start")
        starts.push({ instructions, end: resolve })
      }),
    stop: () => record("stop", undefined),
    destroy: () => record("destroy", true),
  }
  vi.spyOn(host, "start").mockImplementation(slow.start as typeof host.start)
  vi.spyOn(host, "stop").mockImplementation(slow.stop)
  vi.spyOn(host, "destroy").mockImplementation(slow.destroy)
  return { starts, calls }
}

const write: (write: Write) => Promise<D1Result> = (done) => done()

test("a host that starts while its intern is suspended is stopped", async () => {
  const workspace = await newWorkspace()
  const { starts, calls } = slowHost()
  await living(workspace, write, async (lifecycle) => {
    const provisioned = lifecycle.provision()
    await eventually(() => expect(starts).toHaveLength(1))
    await lifecycle.suspend()
    starts[0]?.end()
    await provisioned
    expect(calls).toEqual(["start", "stop", "stop"])
    expect(() => lifecycle.requireRunning()).toThrow("Provision it first")
  })
})

test("a host that starts while its intern is deleted is removed", async () => {
  const workspace = await newWorkspace()
  const { starts, calls } = slowHost()
  await living(workspace, write, async (lifecycle) => {
    const provisioned = lifecycle.provision()
    await eventually(() => expect(starts).toHaveLength(1))
    await lifecycle.destroy(true)
    starts[0]?.end()
    await provisioned
    expect(calls).toEqual(["start", "destroy", "destroy"])
  })
})

test("an intern that is changed and provisioned during a start is started with the change", async () => {
  const workspace = await newWorkspace()
  const { starts } = slowHost()
  await living(workspace, write, async (lifecycle) => {
    const provisioned = lifecycle.provision()
    await eventually(() => expect(starts).toHaveLength(1))
    const { id } = lifecycle.identity ?? {}
    await expectJson(200, workspace.as.patch(`/interns/${id}`, { instructions: "Be brief." }))
    await lifecycle.provision()
    starts[0]?.end()
    await eventually(() => expect(starts).toHaveLength(2))
    starts[1]?.end()
    await provisioned
    expect(starts.map(({ instructions }) => instructions)).toEqual([null, "Be brief."])
    expect(() => lifecycle.requireRunning()).not.toThrow()
  })
})
