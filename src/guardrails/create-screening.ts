import { GatewayError } from "../errors/errors.ts"
import type { PipelineStage } from "../formats/pipeline-stage.ts"
import type { AppliedGuardrails } from "./applied.ts"
import { Checker, type CheckDeps } from "./checks/checker.ts"
import { withChecks } from "./checks/checked-screening.ts"
import { ResponseFilter } from "./content/response-filter.ts"
import { mapOutput } from "./content/texts/output-texts.ts"
import { mapTexts, mapRequest, NAMES, type Role, type Visit } from "./content/texts/request-texts.ts"
import type { OwnedRule } from "./content/rules.ts"
import { isTooDeep } from "../support/text/depth.ts"
import { WorkBudget } from "./content/work-budget.ts"
import { type Finding, type Rule, TextFilter } from "./content/text-filter.ts"
import { plainCodec, type TextCodec } from "./content/texts/text-codec.ts"
import { type TextFormat, mapInSlices, createCachedFilter, type CachedFilter } from "./content/cached-filter.ts"
import { blockError, DONE, type Side, strongest } from "./content/actions.ts"
import { requireText, TOO_DEEP } from "./content/texts/readable.ts"
import { uncheckedError } from "./content/unchecked-error.ts"
import type { Screening } from "./screening.ts"

/** Matching rules with the confidence of the model: 0 for rules without a model. */
type Findings = Map<OwnedRule, number>

/** The fields of a call that screening reads. `wantsMetadata`: the client requested the findings. */
export type ScreeningContext = CheckDeps & { wantsMetadata: boolean }

/** Undefined if no guardrail has content filters or checks. */
export function screeningOf(guardrails: AppliedGuardrails | null, context: ScreeningContext): Screening | undefined {
  const rules = guardrails?.contentRules() ?? []
  const checks = guardrails?.contentChecks() ?? []
  if (!guardrails || rules.length + checks.length === 0) return undefined
  const filters = filtersOf(guardrails, rules, context.wantsMetadata)
  return checks.length === 0 ? filters : withChecks(filters, new Checker(guardrails.list, checks, context))
}

/**
 * The filter of a provider's error texts, outside of a call; undefined if no guardrail has content filters. It returns
 * undefined for a text that is blocked.
 */
export function messageFilterOf(guardrails: AppliedGuardrails | null): Screening["providerMessage"] | undefined {
  const rules = guardrails?.contentRules() ?? []
  return rules.length === 0
    ? undefined
    : messageFilter(
        rules.filter((rule) => readsResponses(rule, false)),
        new Map(),
      )
}

function filtersOf(guardrails: AppliedGuardrails, rules: readonly OwnedRule[], reportsFindings: boolean): Screening {
  const found: Findings = new Map()
  const foundInMessages: Findings = new Map()
  let side: Side = "request"
  const budgets = { request: new WorkBudget(), "tool result": new WorkBudget(), response: new WorkBudget() }
  let uncheckedRule: Rule | undefined
  const isBlocked = () => uncheckedRule !== undefined || [...found.keys()].some(({ action }) => action === "block")

  const outputRules = rules.filter((rule) => readsResponses(rule, reportsFindings))
  const newFilter = (applied: readonly Rule[], codec: TextCodec) => {
    const onUnchecked = (rule: Rule) => void (uncheckedRule ??= rule)
    return new TextFilter(applied, codec, collector(found), { budget: budgets[side], onUnchecked })
  }
  const { outputFilter, noRules, filterFor } = filtersByRole(rules, outputRules, newFilter)

  const blockError = () =>
    uncheckedRule ? uncheckedError([uncheckedRule.detector.name], side) : blockErrorFor(guardrails, rules, found, side)
  const providerMessage = messageFilter(outputRules, foundInMessages)
  const outputScreen = {
    newFilter: (codec: TextCodec) => newFilter(outputRules, codec),
    visit: (text: string, role: Role, form: TextFormat) => (role === NAMES ? text : outputFilter.filterNow(text, form)),
    redacts: outputRules.some(({ action }) => action !== "flag"),
    isBlocked,
    blockError,
    providerMessage,
  }
  const mapped = async <T>(map: (visit: Visit) => T, filterOf: (role: Role) => CachedFilter): Promise<T> => {
    const result = await mapInSlices(map, filterOf, budgets[side], () => {
      if (uncheckedRule) throw blockError()
    })
    if (isBlocked()) throw blockError()
    return result
  }
  return {
    async request(request) {
      side = "request"
      if (isTooDeep(request)) throw new GatewayError("invalid_request", TOO_DEEP)
      if (rules.some(({ action }) => action !== "flag")) requireText(request)
      const screened = await mapped((visit) => mapRequest(request, visit), filterFor)
      side = "response"
      return screened
    },
    async toolResult(result) {
      side = "tool result"
      if (isTooDeep(result)) throw new GatewayError("invalid_request", TOO_DEEP)
      const screened = await mapped((visit) => mapTexts(result, "tool", visit), filterFor)
      side = "response"
      return screened as typeof result
    },
    readsOutput: outputRules.length > 0,
    responseFilter: (check) => new ResponseFilter(outputScreen, check),
    response: (result) =>
      mapped(
        (visit) => mapOutput(result, visit, outputScreen.redacts),
        (role) => (role === NAMES ? noRules : outputFilter),
      ),
    providerMessage,
    stages: () => toStages(guardrails, rules, { texts: found, messages: foundInMessages }),
  }
}

function readsResponses({ detector, action }: OwnedRule, reportsFindings: boolean): boolean {
  return "program" in detector && (action !== "flag" || reportsFindings)
}

function messageFilter(rules: readonly OwnedRule[], findings: Findings): Screening["providerMessage"] {
  return (text) => {
    const filter = new TextFilter(rules, plainCodec(), collector(findings))
    const passed = filter.push(text, true)
    return filter.isBlocked ? undefined : passed
  }
}

function collector(findings: Findings) {
  return ({ rule, score = 0 }: Finding) =>
    void findings.set(rule as OwnedRule, Math.max(score, findings.get(rule as OwnedRule) ?? 0))
}

type NewFilter = (rules: readonly Rule[], codec: TextCodec) => TextFilter

/** Names and ids must not change, so only blocking patterns read them. */
function filtersByRole(rules: readonly OwnedRule[], outputRules: readonly OwnedRule[], newFilter: NewFilter) {
  const user = createCachedFilter(rules, newFilter)
  const nameRules = rules.filter(({ detector, action }) => detector.engine === "regex" && action === "block")
  const names = createCachedFilter(nameRules, newFilter)
  const otherRules = rules.filter(({ scansAllRoles }) => scansAllRoles)
  const others = createCachedFilter(otherRules, newFilter)
  return {
    outputFilter: createCachedFilter(outputRules, newFilter),
    noRules: createCachedFilter([], newFilter),
    filterFor: (role: Role) => (role === "user" ? user : role === NAMES ? names : others),
  }
}

function patternsOf(rules: Iterable<OwnedRule>): string[] {
  return [...new Set([...rules].map(({ detector }) => detector.name))]
}

/** Names the rules, never the matched text. */
function blockErrorFor(
  { list }: AppliedGuardrails,
  rules: readonly OwnedRule[],
  found: Findings,
  side: Side,
): GatewayError {
  const blocking = rules.filter((rule) => found.has(rule) && rule.action === "block")
  const patterns = patternsOf(blocking)
  const owners = blocking.flatMap(({ actions }) => [...actions].filter(([, action]) => action === "block"))
  const names = new Set(owners.map(([owner]) => list[owner]?.name ?? ""))
  return blockError(names, { side, finding: `it matches ${patterns.join(", ")}`, patterns })
}

/** `messages`: findings in messages of providers. */
type FoundIn = { texts: Findings; messages: Findings }

function toStages({ list }: AppliedGuardrails, rules: readonly OwnedRule[], found: FoundIn): PipelineStage[] {
  return list.flatMap(({ id, name, scope }, position) => {
    const ownRules = rules.filter(({ owners }) => owners.includes(position))
    if (ownRules.length === 0) return []
    const actionOf = ({ actions }: OwnedRule) => actions.get(position) ?? "flag"
    const inTexts = ownRules.filter((rule) => found.texts.has(rule))
    const inMessages = ownRules.filter((rule) => found.messages.has(rule) && !found.texts.has(rule))
    const matched = [...inTexts, ...inMessages]
    const patterns = patternsOf(matched)
    const textAction = strongest(inTexts.map(actionOf))
    // A blocked message of a provider is replaced, but does not block the call.
    const messageAction = strongest(inMessages.map(actionOf).map((one) => (one === "block" ? "redact" : one)))
    const action = strongest([textAction, messageAction])
    const scores = matched.flatMap((rule) => {
      const score = Math.max(found.texts.get(rule) ?? 0, found.messages.get(rule) ?? 0)
      return score > 0 ? [[rule.detector.name, Math.round(score * 1_000) / 1_000] as const] : []
    })
    const engines = [...new Set(ownRules.map(({ detector }) => detector.engine))]
    const summary = [
      ...(inTexts.length > 0 ? [`${DONE[textAction]}: ${patternsOf(inTexts).join(", ")}`] : []),
      ...(inMessages.length > 0
        ? [`${DONE[messageAction]} in a message of the provider: ${patternsOf(inMessages).join(", ")}`]
        : []),
    ]
    return [
      {
        type: "guardrail" as const,
        name,
        guardrail_id: id,
        guardrail_scope: scope,
        summary: summary.length > 0 ? summary.join("; ") : "nothing was found",
        data: {
          action,
          detected: patterns.length > 0,
          engines,
          patterns,
          ...(scores.length > 0 && { scores: Object.fromEntries(scores) }),
        },
      },
    ]
  })
}
