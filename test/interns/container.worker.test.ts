import { runInDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { describe, expect, test, vi } from "vitest"
import { InternContainer } from "../../durable-objects/container/container.ts"
import { ContainerHost } from "../../durable-objects/intern/container.ts"
import type { DaemonLink } from "../../durable-objects/intern/daemon.ts"
import type { ContainerEnv } from "../../src/interns/hosts/container-rpc.ts"
import type { InternConfig } from "../../src/interns/hosts/host.ts"
import { findIntern } from "../../src/interns/store.ts"
import { sha256Hex } from "../../src/support/encoding.ts"
import { eventually } from "../support/eventually.ts"
import { insertIntern } from "../support/interns.ts"
import { newWorkspace } from "../support/world.ts"

/** The deployed whole, with the runtime's client of an engine, is in test/runtime/containers.test.ts. */

async function newConfig(): Promise<InternConfig> {
  const workspace = await newWorkspace()
  const { id } = await insertIntern(workspace, { host: "cloudflare-container" })
  const { organizationId, workspaceId } = workspace
  return { id, organizationId, workspaceId, name: "ada", model: null, instructions: null }
}

describe("the host", () => {
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

  test("each start has a join token of its own, and the former one is gone", async () => {
    const config = await newConfig()
    const { host, launched } = hostOf(config.id)
    await host.start(config)
    const { INTERN_GATEWAY_URL: url, INTERN_ID: id, INTERN_JOIN_TOKEN: token = "" } = launched[0] ?? {}
    expect({ url, id }).toEqual({ url: "https://gateway.example.com", id: config.id })
    expect((await findIntern(env.DB, config, config.id))?.joinTokenHash).toBe(sha256Hex(token))
    await host.start(config)
    expect(launched[1]?.INTERN_JOIN_TOKEN).not.toBe(token)
  })

  test("its container is asked to end when the intern is suspended, and removed when it is deleted", async () => {
    const config = await newConfig()
    const { host, object } = hostOf(config.id)
    await host.stop()
    expect(object.halt).toHaveBeenCalledOnce()
    expect(await host.destroy()).toBe(true)
    expect(object.remove).toHaveBeenCalledOnce()
  })

  test("without a container, an address to dial in to, or an engine, it says what is missing", async () => {
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

/** What the class of the platform's package calls, played. */
class PlayedContainer {
  running = false
  starts: unknown[] = []
  signals: number[] = []
  ports: number[] = []
  destroyed = 0
  /** Of the port that the class asks. */
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

  /** It ends by itself. */
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

describe("the object of a container, by the class of @cloudflare/containers", () => {
  const DIAL_IN = { INTERN_GATEWAY_URL: "https://gateway.example.com", INTERN_JOIN_TOKEN: "join-1" }

  /** In the storage of an object that has nothing else to do. */
  async function living(use: (object: InternContainer, played: PlayedContainer, ended: unknown[]) => Promise<void>) {
    await runInDurableObject(env.REALTIME.get(env.REALTIME.newUniqueId()), async (_, state) => {
      const played = new PlayedContainer()
      Object.defineProperty(state, "container", { value: played })
      const ended: unknown[] = []
      const intern = { containerEnded: (code: number) => Promise.resolve(void ended.push(code)) }
      const INTERN = { idFromName: (name: string) => name, get: () => intern }
      const object = new InternContainer(
        state as DurableObjectState<object>,
        { ...env, INTERN } as unknown as typeof env,
      )
      await use(object, played, ended)
      await state.storage.deleteAlarm()
    })
  }

  test("starts with its environment, waits for no port, and is not told to sleep when nobody asks for it", () =>
    living(async (object, played) => {
      await object.launch({ ...DIAL_IN, INTERN_ID: "one" })
      expect(played.starts).toEqual([{ enableInternet: true, env: { ...DIAL_IN, INTERN_ID: "one" } }])
      expect(await object.getState()).toMatchObject({ status: "running" })
      await object.onActivityExpired()
      expect(played.signals).toEqual([])
      await object.launch({ ...DIAL_IN, INTERN_ID: "one" })
      expect({ starts: played.starts.length, destroyed: played.destroyed }).toEqual({ starts: 2, destroyed: 1 })
    }))

  test("an end that nobody asked for is reported with its code, once, until the report succeeds", () =>
    living(async (object, played, ended) => {
      await object.launch({ ...DIAL_IN, INTERN_ID: "one" })
      played.exit(new Error("container exited with unexpected exit code: 3"))
      await eventually(async () => expect(await object.getState()).toMatchObject({ status: "stopped_with_code" }))
      await object.alarm()
      await object.alarm()
      expect(ended).toEqual([3])
    }))

  test("a good end that nobody asked for is reported, too", () =>
    living(async (object, played, ended) => {
      await object.launch({ ...DIAL_IN, INTERN_ID: "one" })
      played.exit()
      await eventually(async () => expect(await object.getState()).toMatchObject({ status: "stopped_with_code" }))
      await object.alarm()
      expect(ended).toEqual([0])
    }))

  test("an end that was asked for is not reported", () =>
    living(async (object, played, ended) => {
      await object.launch({ ...DIAL_IN, INTERN_ID: "one" })
      await object.halt()
      expect(played.signals).toEqual([15])
      played.exit(new Error("container exited with unexpected exit code: 143"))
      await eventually(async () => expect(await object.getState()).toMatchObject({ status: "stopped_with_code" }))
      await object.alarm()
      expect(ended).toEqual([])
    }))

  test("what is removed is destroyed, and its storage is emptied", () =>
    living(async (object, played, ended) => {
      await object.launch({ ...DIAL_IN, INTERN_ID: "one" })
      await object.remove()
      expect(played.destroyed).toBe(1)
      const { storage } = Reflect.get(object, "ctx") as DurableObjectState
      await object.alarm()
      expect([...storage.kv.list()]).toEqual([])
      expect(await storage.getAlarm()).toBeNull()
      expect(ended).toEqual([])
    }))

  test("one that does not start says why, and is not reported as ended", () =>
    living(async (object, played, ended) => {
      played.port = () => {
        played.exit(new Error("container exited with unexpected exit code: 2"))
        return Promise.reject(new Error("The container is not listening"))
      }
      await expect(object.launch({ ...DIAL_IN, INTERN_ID: "one" })).rejects.toThrow("exit code: 2")
      await object.alarm()
      expect(ended).toEqual([])
    }))
})

test("without a container in the configuration the class refuses its object", async () => {
  await runInDurableObject(env.REALTIME.get(env.REALTIME.newUniqueId()), (_, state) => {
    expect(() => new InternContainer(state as DurableObjectState<object>, env)).toThrow(
      "Containers have not been enabled for this Durable Object class",
    )
  })
})
