import type { MiddlewareHandler } from "hono"
import type { Env } from "../config/env.ts"
import type { App } from "../access/app.ts"
import { contentChecksOf } from "../guardrails/checks/settings.ts"
import { trustedIssuers } from "../oauth/policies.ts"
import { hostsIn } from "../outbound/settings.ts"
import { configuredProviders } from "../providers/configured.ts"
import { MASTER_KEY_BYTES } from "../secrets/master-key.ts"
import { egressTestHosts } from "../vault/egress-deps.ts"
import { oidcSettings } from "../sessions/oidc/settings.ts"
import { requireJurisdiction } from "../organizations/jurisdiction.ts"
import { regionalHosts } from "../http/request/region.ts"
import { checkJurisdiction } from "../config/objects.ts"
import { GatewayError } from "../errors/errors.ts"
import { parseConfig } from "../config/config.ts"
import { configuredModeration } from "../plugins/moderation.ts"
import { configuredSearch } from "../server-tools/web-search/configured.ts"

const MIN_BOOTSTRAP_LENGTH = 32

const checked = new WeakMap<Env, GatewayError | undefined>()

/**
 * A deployment with an invalid or missing variable serves nothing: there is no default secret. Checked once per
 * isolate.
 */
export const requireConfiguration: MiddlewareHandler<App> = async function requireConfiguration(c, next) {
  const error = configError(c.env)
  if (error) throw error
  return next()
}

/**
 * Checked before a Durable Object is opened for a request without an API key; with a key, authentication does the same.
 */
export const enforceJurisdiction: MiddlewareHandler<App> = async function enforceJurisdiction(c, next) {
  await requireJurisdiction(c.env)
  return next()
}

/** All configuration faults as one error without secrets; undefined if there are none. */
export function configError(env: Env): GatewayError | undefined {
  if (!checked.has(env)) checked.set(env, toError(configErrors(env)))
  return checked.get(env)
}

function toError(faults: readonly string[]): GatewayError | undefined {
  if (faults.length === 0) return undefined
  return new GatewayError("misconfigured", `The gateway is not configured. ${faults.join(" ")}`)
}

/** One message for each variable that is missing or does not parse. Values of secrets are not quoted. */
function configErrors(env: Env): string[] {
  return [...secretErrors(env), ...parseConfig(env).faults, ...CHECKS.flatMap((check) => faultOf(() => check(env)))]
}

/** Variables that other modules parse: JSON, hosts and groups. */
const CHECKS: readonly ((env: Env) => unknown)[] = [
  configuredProviders,
  regionalHosts,
  checkJurisdiction,
  trustedIssuers,
  contentChecksOf,
  oidcSettings,
  (env) => hostsIn(env, "PRIVATE_HOSTS"),
  (env) => hostsIn(env, "WEB_FETCH_ALLOWED_HOSTS"),
  configuredSearch,
  configuredModeration,
  egressTestHosts,
]

function faultOf(check: () => unknown): string[] {
  try {
    check()
    return []
  } catch (thrown) {
    if (thrown instanceof GatewayError) return [thrown.message]
    throw thrown
  }
}

function secretErrors(env: Env): string[] {
  const faults = (["MASTER_KEY", "BOOTSTRAP_MANAGEMENT_KEY"] as const)
    .filter((name) => !env[name])
    .map((name) => `The secret ${name} is missing. Set it with: wrangler secret put ${name}`)
  if (env.MASTER_KEY && decodedLength(env.MASTER_KEY) !== MASTER_KEY_BYTES) {
    faults.push("The secret MASTER_KEY must be 32 random bytes in base64: openssl rand -base64 32")
  }
  if (env.MASTER_KEY_PREVIOUS && decodedLength(env.MASTER_KEY_PREVIOUS) !== MASTER_KEY_BYTES) {
    faults.push("The secret MASTER_KEY_PREVIOUS must be the former MASTER_KEY: 32 bytes in base64.")
  }
  if (env.BOOTSTRAP_MANAGEMENT_KEY && env.BOOTSTRAP_MANAGEMENT_KEY.length < MIN_BOOTSTRAP_LENGTH) {
    faults.push(`The secret BOOTSTRAP_MANAGEMENT_KEY must have at least ${MIN_BOOTSTRAP_LENGTH} characters.`)
  }
  return faults
}

function decodedLength(base64: string): number {
  try {
    return atob(base64).length
  } catch {
    return 0
  }
}
