import { runInDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"
import type { Intern } from "../../durable-objects/intern/intern.ts"
import { clearConfig } from "../../src/config/config.ts"
import type { Env } from "../../src/config/env.ts"

/** The Durable Object of an intern, with the methods that are there for tests. */
export function internObject(id: string): DurableObjectStub<Intern> {
  return env.INTERN.get(env.INTERN.idFromName(id))
}

/** Makes an intern read variables that the test changed: its object parses its configuration once. */
export function parseConfigAgain(id: string): Promise<void> {
  return runInDurableObject(internObject(id), (intern) => clearConfig(Reflect.get(intern, "env") as Env))
}
