import type { Caller } from "../policy/call-policy.ts"
import { completionCap, requireTier, wantedFor } from "./cost-bound.ts"
import { GatewayError } from "../errors/errors.ts"
import type { GenerationDraft } from "../ledger/generation.ts"
import { logError } from "../support/log.ts"
import { unroutable } from "../routing/metadata.ts"
import { ask, type Outcome } from "./dispatch.ts"
import { namesOf, newCall } from "./call.ts"
import { grantFor, hold, holdFor, newDraft } from "./hold.ts"
import type { Intake } from "./inference-request.ts"
import { chanceFor, plan, type PlanWorld } from "../routing/plan.ts"
import { type Target, targetKey } from "../routing/target.ts"
import { serveStream } from "./relay/stream-response.ts"
import { serveWhole } from "./relay/json-response.ts"
import type { Arrival, World } from "./deps.ts"

/**
 * One inference call, from request to receipt: plan → hold → ask → pass on → settle. Read this file first.
 *
 * Before `ask` a hold reserves the most that the call can cost; after it, whatever happens, the hold is settled once:
 * here, or by the ledger's alarm if this isolate dies.
 */
export async function serve(intake: Intake, arrival: Arrival, caller: Caller, world: World): Promise<Response> {
  const { bounds, question, user } = intake
  const open = requireTier(caller, askable(planned(intake, arrival, caller, world), question), bounds)

  const pseudonym = user === null ? undefined : await world.pseudonymOf(`${caller.organizationId}:${user}`)
  const plain = newDraft(aboutOf(intake, arrival), arrival, caller)
  let estimateNano = 0
  const { heldNano, targets, isByok } = await holdFor(open, async (covered, isByok) => {
    const { estimateNano: estimated, ...wanted } = wantedFor(covered, bounds, (target) =>
      world.health.expectedCompletion(targetKey(target)),
    )
    estimateNano = estimated
    const isFree = covered[0] !== undefined && !covered[0].own && isFreeVariant(covered[0], plain.requestedModel)
    if (isFree) await world.refuseFreeFlood()
    const freeLimits = isFree ? world.freeLimits() : undefined
    return hold(draftFor(plain, isByok), wanted, estimateNano, caller, world, freeLimits)
  })
  const draft = draftFor(plain, isByok)

  const chargeLimitOf = (target: Target) => grantFor(target, heldNano, caller)
  const call = newCall({ intake, arrival, draft, chargeLimitOf, estimateNano, targets, world })
  const capFor = (target: Target) => completionCap(target, bounds, chargeLimitOf(target))
  const outcome = ask(
    { question, targets, pseudonym, capFor },
    {
      send: world.send,
      openKey: world.openKey,
      health: world.health,
      firstFrameMs: world.timers.firstFrameMs,
      now: Date.now,
      signal: call.asking.signal,
    },
  ).catch((cause): Outcome => {
    logError("asking failed", namesOf(draft), cause)
    return { ok: false, refusals: [], attempts: [], reached: false }
  })
  return question.streamed ? serveStream(call, outcome) : serveWhole(call, outcome)
}

function draftFor(draft: GenerationDraft, isByok: boolean): GenerationDraft {
  return isByok ? { ...draft, isByok } : draft
}

/** Where the call may go. A caller who wants to know how it was routed is told also that it could not be. */
function planned(intake: Intake, arrival: Arrival, caller: Caller, world: World): Target[] {
  try {
    return plan(intake.routing, planWorld(intake, arrival, caller, world))
  } catch (refusal) {
    if (!(refusal instanceof GatewayError) || !arrival.wantsMetadata) throw refusal
    const { code, message, metadata } = refusal
    const stages = [...(intake.preparation?.stages ?? []), ...(intake.screening?.stages() ?? [])]
    const beside = unroutable(aboutOf(intake, arrival).requestedModel, arrival.region, message, stages)
    throw new GatewayError(code, message, { ...(metadata && { metadata }), beside })
  }
}

/** A model that is free by its name; that of a provider which asks nothing is the operator's own affair. */
function isFreeVariant({ model }: Target, requested: string): boolean {
  return model.id.endsWith(":free") || requested.endsWith(":free")
}

/** A session, or else a conversation that must stay together, goes to one provider; all others are spread. */
function planWorld(
  { output, sessionId, conversation, signatures }: Intake,
  arrival: Arrival,
  { defaults, guardrails }: Caller,
  world: World,
): PlanWorld {
  const { catalogue, providers, own, health } = world
  const belongsTo = sessionId ?? arrival.sessionId ?? conversation
  const now = Date.now()
  return {
    output,
    catalogue,
    providers,
    own,
    region: arrival.region,
    defaultSort: defaults.providerSort ?? undefined,
    guardrails: guardrails?.routeFilters() ?? [],
    isCooling: (target) => health.isCooling(target, now),
    statisticsOf: (target) => health.statisticsOf(target, now),
    pinnedTo: signatures.map((signature) => health.signerOf(signature)).find((signer) => signer !== undefined),
    chance: belongsTo === null ? () => 1 - Math.random() : chanceFor(belongsTo),
  }
}

/** Without the targets that cannot be asked this. If none is left, the first of them says why. */
function askable(targets: readonly Target[], { refusalOf }: Intake["question"]): readonly Target[] {
  if (!refusalOf) return targets
  const refusals = targets.map(({ provider }) => refusalOf(provider))
  const left = targets.filter((_, at) => refusals[at] === undefined)
  if (left.length === 0 && refusals[0]) throw refusals[0]
  return left
}

function aboutOf(intake: Intake, arrival: Arrival) {
  const { routing, bounds, preparation, apiType, question, sessionId, user, trace = null, messages } = intake
  return {
    apiType,
    ...(preparation?.strategy === "auto" && { router: preparation.requestedModel }),
    requestedModel: preparation?.requestedModel ?? routing.model ?? routing.models?.[0] ?? "",
    streamed: question.streamed,
    sessionId: sessionId ?? arrival.sessionId,
    promptEstimate: bounds.promptEstimate,
    user,
    trace,
    hasMessages: messages !== undefined,
  }
}
