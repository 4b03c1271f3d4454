import type { Principal } from "../access/principal.ts"
import type { Env } from "../config/env.ts"
import { objectNamed } from "../config/objects.ts"
import type { Limit } from "../ledger/limits.ts"
import { callerOf, setPolicy, type TurnTrace } from "./call-policy.ts"

/**
 * Context of calls that belong to runs of an intern: the limits of the schedules that started them, and the turn that
 * destinations show them in; null if unknown.
 */
export type RunContext = { limits: readonly Limit[]; turn: TurnTrace | null }

interface InternRuns extends Rpc.DurableObjectBranded {
  runContext(): RunContext
}

const contextByRequest = new WeakMap<Request, RunContext>()

/** Marks a request that the object of an intern sends for one of its runs. */
export function requestOfRun(request: Request, context: RunContext): Request {
  contextByRequest.set(request, context)
  return request
}

/**
 * Adds the context of the runs that a call may belong to. Calls of a daemon's agent do not identify their run, so they
 * count for every scheduled run in progress. Without `request`, a call belongs to no turn.
 */
export async function withRunContext(principal: Principal, env: Env, request?: Request): Promise<Principal> {
  if (principal.internId === null) return principal
  const cached = request && contextByRequest.get(request)
  const context = cached ?? (await objectNamed<InternRuns>(env, "INTERN", principal.internId).runContext())
  const { limits: runLimits, turn } = request ? context : { ...context, turn: null }
  if (runLimits.length === 0 && turn === null) return principal
  return setPolicy({ ...principal }, { ...callerOf(principal), runLimits, turn })
}
