import type { Deps } from "./deps.ts"
import type { InferenceCall, PlannedCall, PreparedCall } from "./call.ts"
import type { InferenceRequest } from "./inference-request.ts"
import { runAgent } from "./agent/run-agent.ts"
import { requireBodyDepth } from "./input/body-depth.ts"
import { placeDeferredHold, planDeferred, submitLater } from "./deferred/deferred-call.ts"
import { dispatch } from "./dispatch.ts"
import { placeHold } from "./hold.ts"
import { requirePublicMedia } from "./input/media-urls.ts"
import { resolveAliasesOnce, resolveOnce } from "./input/kept-call.ts"
import { outputFilterFor } from "./screening/output-guardrails.ts"
import { callerFor } from "../policy/call-policy.ts"
import { holdCheaper } from "./accounting/over-budget.ts"
import { inlineStoredFiles } from "./input/stored-files.ts"
import { planTargets } from "./plan.ts"
import type { Preparable } from "./prepare/needs.ts"
import { prepareCall } from "./prepare/prepare-call.ts"
import type { NamedModels } from "./presets/alias.ts"
import { relay } from "./relay/relay.ts"
import { screenInput, type UnscreenedCall, screenPlain } from "./screening/screen.ts"
import { settle } from "./settle.ts"

/**
 * The steps of an inference call, in order. Read this file first.
 *
 * Steps 1 and 2 run once per client request, steps 3 to 8 once per upstream call: an agent that runs server tools makes
 * several. A hold reserves the maximum cost of an upstream call before anything is sent; afterwards it is settled
 * exactly once, by `settle`, or by the ledger's alarm if this isolate dies.
 *
 * A client disconnect aborts dispatch if the response has not started; afterwards, the relay stops reading the
 * provider. Both settle what was delivered.
 */
export async function handleInference<Body extends Preparable>(
  call: InferenceCall<Body>,
  deps: Deps,
): Promise<Response> {
  requireBodyDepth(call.body)
  requirePublicMedia(call.body, deps.mediaHosts) //         URLs that a provider would fetch in a private network: 400
  const withFiles = await inlineStoredFiles(call, deps) //  the data of uploaded files in place of their ids
  const resolved = await resolveOnce(call, withFiles, deps) // 1. aliases, preset and workspace defaults
  const screened = await screenInput(resolved) //           2. input guardrails: block or redact
  const prepared = await prepareCall(screened, deps) //        plugins and server tools, if the request names any
  return prepared.kind === "agent" ? runAgent(prepared.job, callUpstream, deps) : callUpstream(prepared.call, deps)
}

/** Handles a request that has no preset and no tools: embeddings and media. */
export async function handlePlainInference<Body extends NamedModels>(
  call: UnscreenedCall<Body>,
  toRequest: (body: Body) => InferenceRequest,
  deps: Deps,
): Promise<Response> {
  requireBodyDepth(call.body)
  requirePublicMedia(call.body, deps.mediaHosts)
  return callUpstream(await screenPlain(resolveAliasesOnce(call, deps), toRequest), deps)
}

/** One upstream call: held before anything is sent, and settled exactly once in every case. */
export async function callUpstream(prepared: PreparedCall, deps: Deps): Promise<Response> {
  //                                                        3. ordered targets, or the error that explains the plan
  const planned = deps.deferral ? planDeferred(prepared, deps, deps.deferral) : planTargets(prepared, deps)
  return callTargets(planned, deps)
}

/** Steps 4 to 8. The hot path starts here with the cached target of a plain call. */
export async function callTargets(call: PlannedCall, deps: Deps): Promise<Response> {
  const planned = { ...call, caller: callerFor(call.caller, call.request.user) } // limits that count each end user
  //                                                        4. reserve the upper bound under every limit: 402, 403 or 429
  const placing = deps.deferral ? placeDeferredHold(planned, deps) : placeHold(planned, deps)
  const held = await placing.catch((rejection: unknown) => holdCheaper(planned, rejection, deps))
  if (deps.deferral && "submit" in deps.deferral) return submitLater(held, deps.deferral)
  const upstream = dispatch(held, deps) //                  5. failover until one target shows content; not awaited here
  const reply = relay({
    call: held,
    upstream, //                                            6. stream or document to the client, metered on the way
    //                                                      7. output guardrails, where the policy has any
    filter: held.request.screening ? outputFilterFor(held, held.request.screening) : null,
    settle: (result) => settle(held, result), //            8. called once, after the last upstream byte, before [DONE]
  })
  // When the client disconnects, the runtime drops work outside `waitUntil`, including the settlement.
  deps.waitUntil(reply.finished)
  return reply.response
}
