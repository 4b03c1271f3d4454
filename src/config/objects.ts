import { GatewayError } from "../errors/errors.ts"
import { configOf } from "./config.ts"
import type { Env } from "./env.ts"

/** The bindings of Durable Objects. */
type ObjectBinding = {
  [Name in keyof Env]-?: NonNullable<Env[Name]> extends DurableObjectNamespace ? Name : never
}[keyof Env]

/**
 * The object of this name. The only way to an object: a name has another object in each jurisdiction, so all of them
 * are opened in the one that is configured.
 */
export function objectNamed<Methods extends Rpc.DurableObjectBranded>(
  env: Env,
  binding: ObjectBinding,
  name: string,
): DurableObjectStub<Methods> {
  const namespace = namespaceOf(env, binding)
  return namespace.get(namespace.idFromName(name)) as DurableObjectStub<Methods>
}

/** An object that no name leads to. */
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

/** Throws where the runtime has no jurisdictions, as workerd on a machine of one's own. */
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
