import { configOf } from "../config/config.ts"
import type { Env } from "../config/env.ts"
import { GatewayError } from "../errors/errors.ts"
import { recordedJurisdiction } from "./store.ts"

/** Deployments whose record this isolate has read and found equal to the configuration. */
const checked = new WeakSet<Env>()

/** The configured jurisdiction, as it is recorded. */
export function configuredJurisdiction(env: Env): string {
  return configOf(env).JURISDICTION ?? NONE
}

const NONE = ""

/**
 * Throws if the objects of this deployment are in another jurisdiction than the configured one, where the same names
 * lead to other, empty objects, without balances and spend. Reads the record once per isolate.
 */
export async function requireJurisdiction(env: Env): Promise<void> {
  if (checked.has(env)) return
  const fault = await jurisdictionError(env)
  if (fault !== undefined) throw new GatewayError("misconfigured", fault)
}

/** The same as a message; undefined if there is no fault. */
export async function jurisdictionError(env: Env): Promise<string | undefined> {
  const recorded = await recordedJurisdiction(env.DB)
  // Without an organization, the first one will record it.
  if (recorded === undefined) return undefined
  const configured = configuredJurisdiction(env)
  if (recorded !== configured) {
    return (
      `JURISDICTION: ${describe(configured)}, but the data of this deployment ${recorded === NONE ? "was created without one" : `is in ${recorded}`}. ` +
      `Balances and limits would start over. ${recorded === NONE ? "Remove JURISDICTION" : `Set JURISDICTION to ${recorded}`}, or deploy a new gateway.`
    )
  }
  checked.add(env)
  return undefined
}

function describe(configured: string): string {
  return configured === NONE ? "is not set" : `is ${configured}`
}
