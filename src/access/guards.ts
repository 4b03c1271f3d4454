import type { Context, MiddlewareHandler } from "hono"
import { GatewayError } from "../errors/errors.ts"
import type { App } from "./app.ts"
import type { Principal } from "./principal.ts"

type Condition = (principal: Principal) => boolean

const conditions = new WeakMap<object, Condition>()

/** Middleware that admits principals by a readable condition; `reject` throws for the others. */
export function guard(condition: Condition, reject: (c: Context<App>) => never): MiddlewareHandler<App> {
  const handler: MiddlewareHandler<App> = async function guard(c, next) {
    return condition(c.var.principal) ? next() : reject(c)
  }
  conditions.set(handler, condition)
  return handler
}

/** Whether a handler of a route admits this principal. Handlers that are not guards admit all. */
export function isAllowedBy(handler: object, principal: Principal): boolean {
  return conditions.get(handler)?.(principal) ?? true
}

/** Management keys only: everything that changes an account. */
export const requireManagement = guard(
  ({ kind }) => kind === "management",
  () => deny("Only management keys may perform this operation."),
)

/** Management keys whose rights do not end: they admit people, who sign in without the limit and expiry of a key. */
export const requireUnrestricted = guard(
  ({ kind, limitNano, expiresAt }) => kind === "management" && limitNano === null && expiresAt === null,
  () => deny("Only management keys without a limit and an expiry may perform this operation."),
)

/** Keys that may create and manage keys: management keys and provisioning keys, which manage nothing else. */
export const requireProvisioning = guard(
  ({ kind }) => kind === "management" || kind === "provisioning",
  () => deny("Only management and provisioning keys may perform this operation."),
)

/** The bootstrap key, for operations across organizations. */
export const requireOperator = guard(
  ({ isOperator }) => isOperator,
  () => deny("Only the deployment's bootstrap management key may perform this operation."),
)

/** A denial that the audit log records (audit/actor.ts). */
function deny(message: string): never {
  throw new GatewayError("forbidden", message, { isDenial: true })
}
