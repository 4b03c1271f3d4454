import type { Principal } from "../access/principal.ts"
import type { Env } from "../config/env.ts"
import { objectNamed } from "../config/objects.ts"
import type { Limit } from "../ledger/limits.ts"
import { callerOf, setPolicy } from "./call-policy.ts"

/** Limits of the schedules of interns: calls of their runs are held against them beside the limits of the intern's key. */

interface InternRuns extends Rpc.DurableObjectBranded {
  runLimits(): readonly Limit[]
}

const limitsByRequest = new WeakMap<Request, readonly Limit[]>()

/** A request that the object of an intern sends for one of its runs, with the limits of that run. */
export function requestOfRun(request: Request, limits: readonly Limit[]): Request {
  limitsByRequest.set(request, limits)
  return request
}

/**
 * The principal with the limits of the runs that its call may belong to. Calls of an agent on a machine do not say whose
 * they are: they belong to every run of a schedule that is in progress.
 */
export async function withRunLimits(principal: Principal, env: Env, request?: Request): Promise<Principal> {
  if (principal.internId === null) return principal
  const known = request && limitsByRequest.get(request)
  const limits = known ?? (await objectNamed<InternRuns>(env, "INTERN", principal.internId).runLimits())
  return limits.length === 0 ? principal : setPolicy({ ...principal }, { ...callerOf(principal), runLimits: limits })
}
