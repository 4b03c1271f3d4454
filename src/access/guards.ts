import type { MiddlewareHandler } from "hono"
import { GatewayError } from "../errors/errors.ts"
import type { App } from "./app.ts"

/** Management keys only: everything that changes an account. */
export const requireManagement: MiddlewareHandler<App> = async function requireManagement(c, next) {
  if (c.var.principal.kind !== "management") throw denied("Only management keys may perform this operation.")
  return next()
}

/** Keys that may mint and manage keys: management keys, and provisioning keys, which manage nothing else. */
export const requireProvisioning: MiddlewareHandler<App> = async function requireProvisioning(c, next) {
  const { kind } = c.var.principal
  if (kind !== "management" && kind !== "provisioning") {
    throw denied("Only management and provisioning keys may perform this operation.")
  }
  return next()
}

/** The deployment's own key: what concerns more than one organization. */
export const requireOperator: MiddlewareHandler<App> = async function requireOperator(c, next) {
  if (!c.var.principal.isOperator) {
    throw denied("Only the deployment's bootstrap management key may perform this operation.")
  }
  return next()
}

/** A refusal that the audit log records (audit/actor.ts). */
function denied(message: string): GatewayError {
  return new GatewayError("forbidden", message, { isDenial: true })
}
