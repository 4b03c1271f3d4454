import { env } from "cloudflare:workers"
import type { Intern } from "../../durable-objects/intern/intern.ts"

/** The Durable Object of an intern, with the methods that are there for tests. */
export function internObject(id: string): DurableObjectStub<Intern> {
  return env.INTERN.get(env.INTERN.idFromName(id))
}
