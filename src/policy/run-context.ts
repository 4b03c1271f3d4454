import type { Principal } from "../access/principal.ts"
import type { Env } from "../config/env.ts"
import { objectNamed } from "../config/objects.ts"
import type { Limit } from "../ledger/limits.ts"
import { callerOf, setPolicy, type TurnTrace } from "./call-policy.ts"

/**
 * What applies to calls that belong to runs of an intern: the limits of the schedules that started them, and the turn
 * whose part the calls are for destinations; null where that is not known.
 */
export type RunContext = { limits: readonly Limit[]; turn: TurnTrace | null }

interface InternRuns extends Rpc.DurableObjectBranded {
  runContext(): RunContext
}

const contextByRequest = new WeakMap<Request, RunContext>()

/** A request that the object of an intern sends for one of its runs. */
export function requestOfRun(request: Request, context: RunContext): Request {
  contextByRequest.set(request, context)
  return request
}

/**
 * The principal with what applies to the runs that its call may belong to. Calls of an agent on a machine do not say whose
 * they are: they belong to every run of a schedule that is in progress. Without `request`, a call belongs to no turn.
 */
export async function withRunContext(principal: Principal, env: Env, request?: Request): Promise<Principal> {
  if (principal.internId === null) return principal
  const known = request && contextByRequest.get(request)
  const context = known ?? (await objectNamed<InternRuns>(env, "INTERN", principal.internId).runContext())
  const { limits: runLimits, turn } = request ? context : { ...context, turn: null }
  if (runLimits.length === 0 && turn === null) return principal
  return setPolicy({ ...principal }, { ...callerOf(principal), runLimits, turn })
}
