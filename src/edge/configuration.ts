import type { MiddlewareHandler } from "hono"
import type { App, Env } from "../env.ts"
import { trustedIssuers } from "../oauth/policies.ts"
import { configuredProviders } from "../providers/configured.ts"
import { MASTER_KEY_BYTES } from "../secrets/master-key.ts"
import { regionalHosts } from "./region.ts"
import { GatewayError } from "./errors.ts"

const MIN_BOOTSTRAP_LENGTH = 32

const checked = new WeakMap<Env, GatewayError | undefined>()

/** A deployment without its secrets serves nothing: there is no default secret. Checked once an isolate. */
export const requireConfiguration: MiddlewareHandler<App> = async function requireConfiguration(c, next) {
  if (!checked.has(c.env)) checked.set(c.env, findFault(c.env))
  const fault = checked.get(c.env)
  if (fault) throw fault
  return next()
}

function findFault(env: Env): GatewayError | undefined {
  const fault = faultOf(env)
  if (fault !== undefined) return new GatewayError("misconfigured", `The gateway is not configured. ${fault}`)
  try {
    configuredProviders(env)
    regionalHosts(env)
    trustedIssuers(env)
    return undefined
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown
    throw thrown
  }
}

function faultOf(env: Env): string | undefined {
  for (const name of ["MASTER_KEY", "BOOTSTRAP_MANAGEMENT_KEY"] as const) {
    if (!env[name]) return `The secret ${name} is missing. Set it with: wrangler secret put ${name}`
  }
  if (decodedLength(env.MASTER_KEY ?? "") !== MASTER_KEY_BYTES) {
    return "The secret MASTER_KEY must be 32 random bytes in base64: openssl rand -base64 32"
  }
  if (env.MASTER_KEY_PREVIOUS && decodedLength(env.MASTER_KEY_PREVIOUS) !== MASTER_KEY_BYTES) {
    return "The secret MASTER_KEY_PREVIOUS must be the former MASTER_KEY: 32 bytes in base64."
  }
  if ((env.BOOTSTRAP_MANAGEMENT_KEY ?? "").length < MIN_BOOTSTRAP_LENGTH) {
    return `The secret BOOTSTRAP_MANAGEMENT_KEY must have at least ${MIN_BOOTSTRAP_LENGTH} characters.`
  }
  return undefined
}

function decodedLength(base64: string): number {
  try {
    return atob(base64).length
  } catch {
    return 0
  }
}
