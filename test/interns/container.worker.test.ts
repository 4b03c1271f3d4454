import { runInDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { describe, expect, test, vi } from "vitest"
import { InternContainer } from "../../durable-objects/container/container.ts"
import { ContainerHost } from "../../durable-objects/intern/container.ts"
import type { DaemonLink } from "../../durable-objects/intern/daemon.ts"
import type { ContainerEnv } from "../../src/interns/hosts/container-rpc.ts"
import type { InternConfig } from "../../src/interns/hosts/host.ts"
import { findIntern } from "../../src/interns/store.ts"
import { sha256Hex } from "../../src/support/text/encoding.ts"
import { eventually } from "../support/eventually.ts"
import { insertIntern } from "../support/interns.ts"
import { newWorkspace } from "../support/world.ts"

/** test/runtime/containers.test.ts covers the deployed Worker with the runtime's client of a container engine. */

async function newConfig(): Promise<InternConfig> {
  const workspace = await newWorkspace()
  const { id } = await insertIntern(workspace, { host: "cloudflare-container" })
  const { organizationId, workspaceId } = workspace
  return { id, organizationId, workspaceId, name: "ada", model: null, instructions: null }
}

describe("the container host", () => {
  function hostOf(id: string, more: object = {}) {
    const launched: ContainerEnv[] = []
    const object = {
      launch: vi.fn((given: ContainerEnv) => {
        launched.push(given)
        return Promise.resolve()
      }),
      halt: vi.fn(() => Promise.resolve()),
      remove: vi.fn(() => Promise.resolve()),
    }
    const link = {
      isUp: false,
      epoch: "",
      start: () => Promise.resolve(),
      stop: () => Promise.resolve(),
      destroy: () => Promise.resolve(true),
    }
    const INTERN_CONTAINER = { idFromName: (name: string) => name, get: () => object }
    const bindings = { ...env, PUBLIC_URL: "https://gateway.example.com/x", INTERN_CONTAINER, ...more }
    const host = new ContainerHost(id, bindings as unknown as typeof env, link as unknown as DaemonLink)
    return { host, object, launched }
  }

  test("gives each start a new join token and invalidates the previous one", async () => {
    const config = await newConfig()
    const { host, launched } = hostOf(config.id)
    await host.start(config)
    const { INTERN_GATEWAY_URL: url, INTERN_ID: id, INTERN_JOIN_TOKEN: token = "" } = launched[0] ?? {}
    expect({ url, id }).toEqual({ url: "https://gateway.example.com", id: config.id })
    expect((await findIntern(env.DB, config, config.id))?.joinTokenHash).toBe(sha256Hex(token))
    await host.start(config)
    expect(launched[1]?.INTERN_JOIN_TOKEN).not.toBe(token)
  })

  test("halts the container on suspend and removes it on delete", async () => {
    const config = await newConfig()
    const { host, object } = hostOf(config.id)
    await host.stop()
    expect(object.halt).toHaveBeenCalledOnce()
    expect(await host.destroy()).toBe(true)
    expect(object.remove).toHaveBeenCalledOnce()
  })

  test("reports a missing container binding, PUBLIC_URL or engine", async () => {
    const config = await newConfig()
    const started = (more: object) => hostOf(config.id, more).host.start(config)
    await expect(started({ INTERN_CONTAINER: undefined })).rejects.toThrow("[[containers]]")
    await expect(started({ PUBLIC_URL: undefined })).rejects.toThrow("PUBLIC_URL")
    const { host, object } = hostOf(config.id)
    object.launch.mockRejectedValueOnce(new Error("Containers have not been enabled for this Durable Object class."))
    await expect(host.start(config)).rejects.toThrow("[[containers]]")
    object.launch.mockRejectedValueOnce(new Error("internal error; reference = abc"))
    await expect(host.start(config)).rejects.toThrow("engine")
    object.launch.mockRejectedValueOnce(new Error("No container is free."))
    await expect(host.start(config)).rejects.toThrow("No container is free.")
  })
})

/** A fake of the container API that the base class of @cloudflare/containers calls. */
class MockContainer {
  running = false
  starts: unknown[] = []
  signals: number[] = []
  ports: number[] = []
  destroyed = 0
  /** The response of the port that the class requests. */
  port: () => Promise<Response> = () => Promise.reject(new Error("The container is not listening in the TCP address"))
  #end: PromiseWithResolvers<void> = Promise.withResolvers()

  start(options: unknown): void {
    this.starts.push(options)
    this.#end = Promise.withResolvers()
    this.running = true
  }

  monitor(): Promise<void> {
    return this.#end.promise
  }

  /** Simulates an exit of the container's process. */
  exit(error?: Error): void {
    this.running = false
    if (error) this.#end.reject(error)
    else this.#end.resolve()
  }

  signal(signo: number): void {
    this.signals.push(signo)
  }

  destroy(): Promise<void> {
    this.destroyed += 1
    this.exit(new Error("runtime signalled the container to exit: 9"))
    return Promise.resolve()
  }

  getTcpPort(port: number) {
    this.ports.push(port)
    return { fetch: () => this.port() }
  }
}

describe("the container object based on @cloudflare/containers", () => {
  const DIAL_IN = { INTERN_GATEWAY_URL: "https://gateway.example.com", INTERN_JOIN_TOKEN: "join-1" }

  /** Uses the storage of an unrelated object. */
  async function withContainer(
    use: (object: InternContainer, container: MockContainer, ended: unknown[]) => Promise<void>,
  ) {
    await runInDurableObject(env.REALTIME.get(env.REALTIME.newUniqueId()), async (_, state) => {
      const container = new MockContainer()
      Object.defineProperty(state, "container", { value: container })
      const ended: unknown[] = []
      const intern = { containerEnded: (code: number) => Promise.resolve(void ended.push(code)) }
      const INTERN = { idFromName: (name: string) => name, get: () => intern }
      const object = new InternContainer(
        state as DurableObjectState<object>,
        { ...env, INTERN } as unknown as typeof env,
      )
      await use(object, container, ended)
      await state.storage.deleteAlarm()
    })
  }

  test("starts with its environment, waits for no port, and has no activity timeout", () =>
    withContainer(async (object, container) => {
      await object.launch({ ...DIAL_IN, INTERN_ID: "one" })
      expect(container.starts).toEqual([{ enableInternet: true, env: { ...DIAL_IN, INTERN_ID: "one" } }])
      expect(await object.getState()).toMatchObject({ status: "running" })
      await object.onActivityExpired()
      expect(container.signals).toEqual([])
      await object.launch({ ...DIAL_IN, INTERN_ID: "one" })
      expect({ starts: container.starts.length, destroyed: container.destroyed }).toEqual({ starts: 2, destroyed: 1 })
    }))

  test("reports an unexpected exit once with its code, and retries until the report succeeds", () =>
    withContainer(async (object, container, ended) => {
      await object.launch({ ...DIAL_IN, INTERN_ID: "one" })
      container.exit(new Error("container exited with unexpected exit code: 3"))
      await eventually(async () => expect(await object.getState()).toMatchObject({ status: "stopped_with_code" }))
      await object.alarm()
      await object.alarm()
      expect(ended).toEqual([3])
    }))

  test("reports an unexpected exit with code 0", () =>
    withContainer(async (object, container, ended) => {
      await object.launch({ ...DIAL_IN, INTERN_ID: "one" })
      container.exit()
      await eventually(async () => expect(await object.getState()).toMatchObject({ status: "stopped_with_code" }))
      await object.alarm()
      expect(ended).toEqual([0])
    }))

  test("does not report an exit after halt", () =>
    withContainer(async (object, container, ended) => {
      await object.launch({ ...DIAL_IN, INTERN_ID: "one" })
      await object.halt()
      expect(container.signals).toEqual([15])
      container.exit(new Error("container exited with unexpected exit code: 143"))
      await eventually(async () => expect(await object.getState()).toMatchObject({ status: "stopped_with_code" }))
      await object.alarm()
      expect(ended).toEqual([])
    }))

  test("destroys a removed container and deletes its storage", () =>
    withContainer(async (object, container, ended) => {
      await object.launch({ ...DIAL_IN, INTERN_ID: "one" })
      await object.remove()
      expect(container.destroyed).toBe(1)
      const { storage } = Reflect.get(object, "ctx") as DurableObjectState
      await object.alarm()
      expect([...storage.kv.list()]).toEqual([])
      expect(await storage.getAlarm()).toBeNull()
      expect(ended).toEqual([])
    }))

  test("reports why a container did not start, and does not report an exit", () =>
    withContainer(async (object, container, ended) => {
      container.port = () => {
        container.exit(new Error("container exited with unexpected exit code: 2"))
        return Promise.reject(new Error("The container is not listening"))
      }
      await expect(object.launch({ ...DIAL_IN, INTERN_ID: "one" })).rejects.toThrow("exit code: 2")
      await object.alarm()
      expect(ended).toEqual([])
    }))
})

test("the container object throws when the configuration has no container", async () => {
  await runInDurableObject(env.REALTIME.get(env.REALTIME.newUniqueId()), (_, state) => {
    expect(() => new InternContainer(state as DurableObjectState<object>, env)).toThrow(
      "Containers have not been enabled for this Durable Object class",
    )
  })
})
