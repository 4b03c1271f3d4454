import { runInDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"
import type { Intern } from "../../durable-objects/intern/intern.ts"
import { clearConfig } from "../../src/config/config.ts"
import { clearDeployment } from "../../src/inference/context.ts"
import type { Env } from "../../src/config/env.ts"

/** The Durable Object of an intern, with the methods for tests. */
export function internObject(id: string): DurableObjectStub<Intern> {
  return env.INTERN.get(env.INTERN.idFromName(id))
}

/**
 * Discards the memory of an intern immediately, like a crash. An eviction waits 20 seconds for an agent that waits for an
 * answer.
 */
export async function crashIntern(id: string): Promise<void> {
  await runInDurableObject(internObject(id), (_, state) => state.abort("crash of a test")).catch(() => undefined)
}

/** Makes an intern read variables that the test changed: its object parses its configuration once. */
export function parseConfigAgain(id: string): Promise<void> {
  return runInDurableObject(internObject(id), (intern) => {
    const current = Reflect.get(intern, "env") as Env
    clearConfig(current)
    clearDeployment(current)
  })
}
