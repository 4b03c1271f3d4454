import { GatewayError } from "../errors/errors.ts"
import { configOf } from "./config.ts"
import type { Env } from "./env.ts"

/** The bindings of Durable Objects. */
type ObjectBinding = {
  [Name in keyof Env]-?: NonNullable<Env[Name]> extends DurableObjectNamespace ? Name : never
}[keyof Env]

/**
 * The object with this name. All objects are opened here: a name means another object in each jurisdiction, so all of
 * them are opened in the configured one.
 */
export function objectNamed<Methods extends Rpc.DurableObjectBranded>(
  env: Env,
  binding: ObjectBinding,
  name: string,
): DurableObjectStub<Methods> {
  const namespace = namespaceOf(env, binding)
  return namespace.get(namespace.idFromName(name)) as DurableObjectStub<Methods>
}

/** An object without a name. */
export function newObject(env: Env, binding: ObjectBinding): DurableObjectStub {
  const namespace = namespaceOf(env, binding)
  return namespace.get(namespace.newUniqueId())
}

function namespaceOf(env: Env, binding: ObjectBinding): DurableObjectNamespace {
  const { JURISDICTION: jurisdiction } = configOf(env)
  const namespace = env[binding]
  if (!namespace) throw new GatewayError("misconfigured", `${binding}: this deployment does not bind it.`)
  return jurisdiction === undefined ? namespace : namespace.jurisdiction(jurisdiction)
}

/** Throws if the runtime has no jurisdictions, such as self-hosted workerd. */
export function checkJurisdiction(env: Env): void {
  const { JURISDICTION: jurisdiction } = configOf(env)
  if (jurisdiction === undefined) return
  try {
    env.LEDGER.jurisdiction(jurisdiction)
  } catch (cause) {
    const message =
      "JURISDICTION: must not be set here, because only Cloudflare's network has jurisdictions. All data stays on this machine."
    throw new GatewayError("misconfigured", message, { cause })
  }
}
