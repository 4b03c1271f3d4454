import type { MiddlewareHandler } from "hono"
import type { Env } from "../config/env.ts"
import type { App } from "../access/app.ts"
import { trustedIssuers } from "../oauth/policies.ts"
import { hostsIn } from "../outbound/settings.ts"
import { configuredProviders } from "../providers/configured.ts"
import { MASTER_KEY_BYTES } from "../secrets/master-key.ts"
import { egressTestHosts } from "../vault/egress-deps.ts"
import { regionalHosts } from "../http/region.ts"
import { GatewayError } from "../errors/errors.ts"

const MIN_BOOTSTRAP_LENGTH = 32

const checked = new WeakMap<Env, GatewayError | undefined>()

/** A deployment without its secrets serves nothing: there is no default secret. Checked once an isolate. */
export const requireConfiguration: MiddlewareHandler<App> = async function requireConfiguration(c, next) {
  const fault = configErrors(c.env)
  if (fault) throw fault
  return next()
}

/** What keeps a deployment from serving, in words that quote no secret; undefined where nothing does. */
export function configErrors(env: Env): GatewayError | undefined {
  if (!checked.has(env)) checked.set(env, checkConfig(env))
  return checked.get(env)
}

function checkConfig(env: Env): GatewayError | undefined {
  const fault = secretFaultOf(env)
  if (fault !== undefined) return new GatewayError("misconfigured", `The gateway is not configured. ${fault}`)
  try {
    configuredProviders(env)
    regionalHosts(env)
    trustedIssuers(env)
    hostsIn(env, "PRIVATE_HOSTS")
    egressTestHosts(env)
    return undefined
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown
    throw thrown
  }
}

function secretFaultOf(env: Env): string | undefined {
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
