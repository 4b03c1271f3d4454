import { env } from "cloudflare:workers"
import { expect, test, vi } from "vitest"
import { ContainerHost } from "../../durable-objects/intern/container.ts"
import type { DaemonLink } from "../../durable-objects/intern/daemon.ts"
import type { InternConfig } from "../../src/interns/hosts/host.ts"
import { findIntern } from "../../src/interns/store.ts"
import { sha256Hex } from "../../src/support/encoding.ts"
import { insertIntern } from "../support/interns.ts"
import { newWorkspace } from "../support/world.ts"

type Started = { env: Record<string, string>; enableInternet: boolean }

/** A container binding of the test's own: what the platform's does was never tried. */
function fakeContainer() {
  const started: Started[] = []
  const container = {
    running: false,
    start: (options: Started) => {
      started.push(options)
      container.running = true
    },
    destroy: vi.fn(() => {
      container.running = false
      return Promise.resolve()
    }),
    signal: vi.fn(),
  }
  return { container, started }
}

const link = () => {
  const isArchived = { now: true }
  const fake = {
    isUp: false,
    epoch: "",
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
    destroy: () => Promise.resolve(isArchived.now),
  }
  return { fake: fake as unknown as DaemonLink, isArchived }
}

const hostOf = (container: unknown, more: object = {}) => {
  const ctx = { container } as unknown as DurableObjectState
  return new ContainerHost(ctx, { ...env, PUBLIC_URL: "https://gateway.example.com/x", ...more }, link().fake)
}

async function newConfig(): Promise<InternConfig> {
  const workspace = await newWorkspace()
  const { id } = await insertIntern(workspace, { host: "cloudflare-container" })
  const { organizationId, workspaceId } = workspace
  return { id, organizationId, workspaceId, name: "ada", model: null, instructions: null }
}

test("a container is started with a join token of its own, and the former one is gone", async () => {
  const config = await newConfig()
  const { container, started } = fakeContainer()
  const host = hostOf(container)
  await host.start(config)
  const { INTERN_GATEWAY_URL: url, INTERN_ID: id, INTERN_JOIN_TOKEN: token = "" } = started[0]?.env ?? {}
  expect({ url, id }).toEqual({ url: "https://gateway.example.com", id: config.id })
  const row = await findIntern(env.DB, config, config.id)
  expect(row?.joinTokenHash).toBe(sha256Hex(token))
  await host.start(config)
  expect(container.destroy).toHaveBeenCalledOnce()
  expect(started[1]?.env["INTERN_JOIN_TOKEN"]).not.toBe(token)
})

test("it is asked to end when its intern is suspended, and removed when it is deleted", async () => {
  const { container } = fakeContainer()
  const host = hostOf(container)
  await host.start(await newConfig())
  await host.stop()
  expect(container.signal).toHaveBeenCalledWith(15)
  expect(await host.destroy()).toBe(true)
  expect(container.running).toBe(false)
})

test("without a container, or an address to dial in to, it says what is missing", async () => {
  const config = await newConfig()
  await expect(hostOf(undefined).start(config)).rejects.toThrow("[[containers]]")
  await expect(hostOf(fakeContainer().container, { PUBLIC_URL: undefined }).start(config)).rejects.toThrow("PUBLIC_URL")
})
