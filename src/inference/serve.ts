import type { Caller } from "../access/caller.ts"
import type { GenerationDraft } from "../generations/generation.ts"
import { limitOf } from "../keys/key.ts"
import { newGenerationId } from "../support/ids.ts"
import { completionCap, requireTier, toPaymentRequired, wantedFor } from "./admit.ts"
import { logError } from "../support/log.ts"
import { ask, type Outcome } from "./ask.ts"
import { newCall } from "./call.ts"
import type { Intake } from "./intake.ts"
import { chanceFor, plan, type PlanWorld } from "./routing/plan.ts"
import type { Target } from "./routing/target.ts"
import { serveStream } from "./serve-stream.ts"
import { serveWhole } from "./serve-whole.ts"
import type { Arrival, World } from "./world.ts"

/**
 * One inference call, from request to receipt: plan → hold → ask → pass on → settle. Read this file first.
 *
 * Before `ask` a hold reserves the most that the call can cost; after it, whatever happens, the hold is settled once:
 * here, or by the ledger's alarm if this isolate dies.
 */
export async function serve(intake: Intake, arrival: Arrival, caller: Caller, world: World): Promise<Response> {
  const { bounds, question, user } = intake
  const targets = requireTier(
    caller,
    askable(plan(intake.routing, planWorld(intake, arrival, world)), question),
    bounds,
  )

  const pseudonym = user === null ? undefined : await world.pseudonymOf(`${caller.organizationId}:${user}`)
  const draft = newDraft(intake, arrival, caller)
  const { estimateNano, ...wanted } = wantedFor(targets, bounds)
  const limit = limitOf(caller)
  const verdict = await world.ledger.hold({
    draft,
    wanted,
    estimateNano,
    chargesAccount: true,
    limits: limit ? [limit] : [],
    ttlMs: world.timers.holdTtlMs,
  })
  if (!verdict.ok) throw toPaymentRequired(verdict, caller)

  const call = newCall({ intake, arrival, draft, heldNano: verdict.grantedNano, targets, world })
  const capFor = (target: Target) => completionCap(target, bounds, verdict.grantedNano)
  const outcome = ask(
    { question, targets, pseudonym, capFor },
    {
      send: world.send,
      health: world.health,
      firstFrameMs: world.timers.firstFrameMs,
      now: Date.now,
      signal: call.asking.signal,
    },
  ).catch((cause): Outcome => {
    logError("asking failed", { generation: draft.id }, cause)
    return { ok: false, refusals: [], attempts: [], reached: false }
  })
  return question.streamed ? serveStream(call, outcome) : serveWhole(call, outcome)
}

/** A session, or else a conversation that must stay together, goes to one provider; all others are spread. */
function planWorld({ output, sessionId, conversation, signatures }: Intake, arrival: Arrival, world: World): PlanWorld {
  const { catalogue, providers, health } = world
  const belongsTo = sessionId ?? arrival.sessionId ?? conversation
  const now = Date.now()
  return {
    output,
    catalogue,
    providers,
    region: arrival.region,
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

function newDraft(intake: Intake, arrival: Arrival, caller: Caller): GenerationDraft {
  const { routing, bounds } = intake
  return {
    id: newGenerationId(),
    organizationId: caller.organizationId,
    workspaceId: caller.workspaceId,
    keyHash: caller.keyHash,
    createdAt: Date.now(),
    requestId: arrival.requestId,
    apiType: intake.apiType,
    requestedModel: routing.model ?? routing.models?.[0] ?? "",
    streamed: intake.question.streamed,
    sessionId: intake.sessionId ?? arrival.sessionId,
    appUrl: arrival.appUrl,
    appTitle: arrival.appTitle,
    userAgent: arrival.userAgent,
    promptEstimate: bounds.promptEstimate,
  }
}
