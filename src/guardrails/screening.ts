import { GatewayError } from "../edge/errors.ts"
import type { Stage } from "../inference/intake.ts"
import type { CallerGuardrails } from "./applied.ts"
import { AnswerFilter } from "./content/answer-filter.ts"
import { jsonUnits } from "./content/json-units.ts"
import { isTooDeep, mapLeaves, mapOthers, mapRequest, OF_A_CHOICE, OF_AN_ANSWER, type Role } from "./content/leaves.ts"
import type { OwnedRule } from "./content/rules.ts"
import { type Action, type Finding, plainUnits, TextFilter, type Units } from "./content/text-filter.ts"

type Json = Record<string, unknown>

/** The content filters of a caller at work on one call: what was found, and what came of it. */
export type Screening = {
  /** The request as it may go on. Throws the refusal where something is blocked. */
  request: <T extends object>(request: T) => T
  /** Whether answers are read, or else pass by. */
  readsAnswers: boolean
  /** For an answer that streams on the chat wire. */
  answerFilter: () => AnswerFilter
  /** An answer that is all there, as it may be told. Throws the refusal where something is blocked. */
  answer: (result: Json) => Json
  stages: () => Stage[]
}

const STRENGTH: readonly Action[] = ["block", "redact", "flag"]

/** Undefined where no guardrail of the caller has content filters. `isTold`: the caller wants to know what was found. */
export function screeningOf(guardrails: CallerGuardrails | null, isTold: boolean): Screening | undefined {
  const rules = guardrails?.contentRules() ?? []
  if (!guardrails || rules.length === 0) return undefined
  const found = new Set<OwnedRule>()
  let side: "request" | "answer" = "request"
  const onFinding = ({ rule }: Finding) => void found.add(rule as OwnedRule)
  const isBlocked = () => [...found].some(({ action }) => action === "block")

  const answerRules = rules.filter(({ detector, action }) => "program" in detector && (action !== "flag" || isTold))
  const read = (text: string, units: Units, about: readonly OwnedRule[]) =>
    new TextFilter(about, units, onFinding).push(text, true)
  const visitWith =
    (rulesFor: (role: Role) => readonly OwnedRule[]) => (text: string, role: Role, form: "plain" | "json") =>
      text === "" ? text : read(text, form === "json" ? jsonUnits() : plainUnits(), rulesFor(role))
  const visitAnswer = visitWith(() => answerRules)

  const refusal = () => refusalFor(guardrails, rules, found, side)
  const answerReader = {
    newFilter: (units: Units) => new TextFilter(answerRules, units, onFinding),
    visit: visitAnswer,
    hides: answerRules.some(({ action }) => action !== "flag"),
    isBlocked,
    refusal,
  }
  return {
    request(request) {
      side = "request"
      if (isTooDeep(request)) {
        const words =
          "The request is nested deeper than the guardrails of this key read. Nest it less than 500 levels deep."
        throw new GatewayError("invalid_request", words)
      }
      const screened = mapRequest(
        request,
        visitWith((role) => rules.filter((rule) => rule.readsAll || role === "user")),
      )
      if (isBlocked()) throw refusal()
      side = "answer"
      return screened
    },
    readsAnswers: answerRules.length > 0,
    answerFilter: () => new AnswerFilter(answerReader),
    answer(result) {
      const told = mapAnswer(result, visitAnswer, answerReader.hides)
      if (isBlocked()) throw refusal()
      return told
    },
    stages: () => toStages(guardrails, rules, found),
  }
}

/** Choices of the chat wire, or the words of a transcription, whose parts stand for what its text no longer says. */
function mapAnswer(result: Json, visit: Parameters<typeof mapLeaves>[2], hides: boolean): Json {
  if (Array.isArray(result["choices"])) {
    const choices = (result["choices"] as Json[]).map((choice) => ({
      ...mapOthers(choice, OF_A_CHOICE, visit),
      message: mapLeaves(choice["message"], "assistant", visit),
      ...(hides && choice["logprobs"] != null && { logprobs: null }),
    }))
    return { ...mapOthers(result, OF_AN_ANSWER, visit), choices }
  }
  if (typeof result["text"] !== "string") return result
  const text = visit(result["text"], "assistant", "plain")
  if (text === result["text"]) return result
  const { words: _, segments: __, ...rest } = result
  return { ...rest, text }
}

function patternsOf(rules: Iterable<OwnedRule>): string[] {
  return [...new Set([...rules].map(({ detector }) => detector.name))]
}

/** Told are the names of the rules, never what they found. */
function refusalFor(
  { list }: CallerGuardrails,
  rules: readonly OwnedRule[],
  found: ReadonlySet<OwnedRule>,
  side: "request" | "answer",
): GatewayError {
  const blocking = rules.filter((rule) => found.has(rule) && rule.action === "block")
  const patterns = patternsOf(blocking)
  const names = [...new Set(blocking.flatMap(({ owners }) => owners))].map((owner) => `"${list[owner]?.name ?? ""}"`)
  const what =
    names.length > 1 ? `The guardrails ${names.join(" and ")} block` : `The guardrail ${names.join("")} blocks`
  const advice = side === "request" ? " Take that out of the request." : ""
  return new GatewayError("forbidden", `${what} this ${side}: it has ${patterns.join(", ")} in it.${advice}`, {
    metadata: { reason: "guardrail_blocked", patterns },
  })
}

function toStages({ list }: CallerGuardrails, rules: readonly OwnedRule[], found: ReadonlySet<OwnedRule>): Stage[] {
  return list.flatMap(({ id, name, scope }, place) => {
    const own = rules.filter(({ owners }) => owners.includes(place))
    if (own.length === 0) return []
    const tripped = own.filter((rule) => found.has(rule))
    const patterns = patternsOf(tripped)
    const action = STRENGTH.find((one) => tripped.some((rule) => rule.action === one)) ?? "none"
    const engines = [...new Set(own.map(({ detector }) => detector.engine))]
    return [
      {
        type: "guardrail" as const,
        name,
        guardrail_id: id,
        guardrail_scope: scope,
        summary: patterns.length > 0 ? `${DONE[action]}: ${patterns.join(", ")}` : "nothing was found",
        data: { action, detected: patterns.length > 0, engines, patterns },
      },
    ]
  })
}

const DONE = { block: "blocked", redact: "redacted", flag: "flagged", none: "" } as const
