import { configOf } from "../config/config.ts"
import type { Env } from "../config/env.ts"
import { GatewayError } from "../errors/errors.ts"
import { recordedJurisdiction } from "./store.ts"

/** Deployments whose record this isolate has read and found to be what is configured. */
const checked = new WeakSet<Env>()

/** What is configured, as it is recorded. */
export function configuredJurisdiction(env: Env): string {
  return configOf(env).JURISDICTION ?? NONE
}

const NONE = ""

/**
 * Throws where the objects of this deployment are in another jurisdiction than the configured one: under the same names
 * there are other, empty objects, whose ledgers know no balance and no spending. Reads the record once an isolate.
 */
export async function requireJurisdiction(env: Env): Promise<void> {
  if (checked.has(env)) return
  const fault = await jurisdictionFault(env)
  if (fault !== undefined) throw new GatewayError("misconfigured", fault)
}

/** The same as a message; undefined where nothing is wrong. */
export async function jurisdictionFault(env: Env): Promise<string | undefined> {
  const recorded = await recordedJurisdiction(env.DB)
  // There is no organization yet: the first one records it.
  if (recorded === undefined) return undefined
  const configured = configuredJurisdiction(env)
  if (recorded !== configured) {
    return (
      `JURISDICTION: ${describe(configured)}, but the data of this deployment ${recorded === NONE ? "was created without one" : `is in ${recorded}`}. ` +
      `Balances and limits would begin anew. ${recorded === NONE ? "Remove JURISDICTION" : `Set JURISDICTION to ${recorded}`}, or deploy a new gateway.`
    )
  }
  checked.add(env)
  return undefined
}

function describe(configured: string): string {
  return configured === NONE ? "is not set" : `is ${configured}`
}
