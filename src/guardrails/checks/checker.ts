import { GatewayError } from "../../errors/errors.ts"
import type { PipelineStage } from "../../formats/pipeline-stage.ts"
import type { AppliedGuardrail } from "../applied.ts"
import type { Action } from "../content/text-filter.ts"
import { blockError, DONE, type Side, STRENGTH, strongest } from "../content/actions.ts"
import { listOf } from "../../support/text/json.ts"
import type { AppliedCheck } from "./combine.ts"
import type { CheckedText, CheckInput, CheckResult } from "./formats.ts"
import { runCheck } from "./run-check.ts"
import type { ContentChecks } from "./check.ts"

export type CheckDeps = { requestId: string; contentChecks: ContentChecks }

/** Result of a check for the texts of a call. `actions`: the action of each guardrail, by its index. */
type Outcome = { name: string; actions: ReadonlyMap<number, Action>; result: CheckResult | null }

const STAGE_OF = { request: "request", "tool result": "tool_result", response: "response" } as const

/** Runs the checks of a call's guardrails, and remembers what they found. */
export class Checker {
  readonly #list: readonly AppliedGuardrail[]
  readonly #checks: readonly AppliedCheck[]
  readonly #deps: CheckDeps
  readonly #outcomes: Outcome[] = []
  /** Texts of requests and tools that all checks judged: each round of an agent loop has the texts before it. */
  readonly #judged = new Set<string>()

  constructor(list: readonly AppliedGuardrail[], checks: readonly AppliedCheck[], deps: CheckDeps) {
    this.#list = list
    this.#checks = checks
    this.#deps = deps
  }

  /** Whether texts of requests must be readable, because a finding changes what happens. */
  get guardsInput(): boolean {
    return this.#checks.some(({ input }) => [...input.values()].some((action) => action !== "flag"))
  }

  get readsOutput(): boolean {
    return this.#checks.some(({ output }) => output.size > 0)
  }

  /** Whether a response must not be sent before it is checked. */
  get blocksOutput(): boolean {
    return this.#checks.some(({ output }) => [...output.values()].includes("block"))
  }

  /**
   * The texts as the checks changed them; undefined if they changed nothing. Rejects with an error if a check blocks
   * them or could not judge them. Checks run one after another where one may change the texts, otherwise together.
   */
  async check(side: Side, texts: readonly CheckedText[]): Promise<string[] | undefined> {
    const isJudged = ({ role, text }: CheckedText) => role === "assistant" || this.#judged.has(text)
    if (texts.length === 0 || (side !== "response" && texts.every(isJudged))) return undefined
    const due = this.#checks.flatMap(({ name, input, output }) => {
      const actions = side === "response" ? output : input
      return actions.size > 0 ? [{ name, actions, action: strongest([...actions.values()]) }] : []
    })
    const changing = due.filter(({ action }) => action === "redact")
    let current = texts
    for (const one of changing) {
      const outcome = await this.#run(one, side, current)
      const changed = this.#redacted(outcome, side, current)
      if (changed) current = current.map(({ role }, at) => ({ role, text: changed[at] ?? "" }))
    }
    const others = due.filter(({ action }) => action !== "redact")
    const outcomes = await Promise.all(others.map((one) => this.#run(one, side, current)))
    for (const [at, { action }] of others.entries()) {
      const outcome = outcomes[at]
      if (action === "block" && outcome) this.#requirePassed(outcome, side)
    }
    if (side !== "response") for (const { text } of current) this.#judged.add(text)
    return current === texts ? undefined : current.map(({ text }) => text)
  }

  async #run(
    { name, actions }: Pick<Outcome, "name" | "actions">,
    side: Side,
    texts: readonly CheckedText[],
  ): Promise<Outcome> {
    const { contentChecks, requestId } = this.#deps
    const settings = contentChecks.get(name)
    const input: CheckInput = { stage: STAGE_OF[side], texts, requestId }
    const result = settings ? await runCheck(settings, input) : null
    const outcome = { name, actions, result }
    this.#outcomes.push(outcome)
    return outcome
  }

  #requirePassed({ name, actions, result }: Outcome, side: Side): void {
    if (!result) {
      if (this.#allowsUnavailable(name)) return
      throw unavailable(name, side)
    }
    if (!result.isFlagged) return
    const pattern = patternOf(name, result)
    const blocking = [...actions].filter(([, action]) => action !== "flag")
    const names = new Set(blocking.map(([owner]) => this.#list[owner]?.name ?? ""))
    throw blockError(names, { side, finding: `its check found ${pattern}`, patterns: [pattern] })
  }

  /** A finding without replacements for all texts blocks, because it was to be redacted. */
  #redacted(outcome: Outcome, side: Side, texts: readonly CheckedText[]): string[] | undefined {
    const { result } = outcome
    if (result?.isFlagged && result.texts?.length === texts.length) return result.texts
    this.#requirePassed(outcome, side)
    return undefined
  }

  #allowsUnavailable(name: string): boolean {
    return this.#deps.contentChecks.get(name)?.if_unavailable === "allow"
  }

  /** The stages of the guardrails with what their checks found. */
  stages(stages: readonly PipelineStage[]): PipelineStage[] {
    return this.#list.flatMap((guardrail, owner) => {
      const stage = stages.find((one) => one.guardrail_id === guardrail.id)
      const isOwner = ({ input, output }: AppliedCheck) => input.has(owner) || output.has(owner)
      if (!this.#checks.some(isOwner)) return stage ? [stage] : []
      return [this.#stage(guardrail, owner, stage)]
    })
  }

  #stage({ id, name, scope }: AppliedGuardrail, owner: number, stage: PipelineStage | undefined): PipelineStage {
    const { data = {} } = stage ?? {}
    const outcomes = this.#outcomes.filter(({ actions }) => actions.has(owner))
    const flagged = outcomes.filter(({ result }) => result?.isFlagged)
    const failed = outcomes.filter(({ result }) => result === null).map((one) => one.name)
    const found = [...new Set(flagged.map((one) => patternOf(one.name, one.result)))]
    const action = strongest(flagged.map(({ actions }) => actions.get(owner) ?? "flag"))
    const summary = [
      ...(stage && data["detected"] === true ? [stage.summary] : []),
      ...(found.length > 0 ? [`${DONE[action]}: ${found.join(", ")}`] : []),
      ...(failed.length > 0 ? [`not available: ${[...new Set(failed)].join(", ")}`] : []),
    ]
    return {
      type: "guardrail",
      name,
      guardrail_id: id,
      guardrail_scope: scope,
      summary: summary.length > 0 ? summary.join("; ") : "nothing was found",
      data: {
        ...data,
        action: strongest([action, ...STRENGTH.filter((one) => one === data["action"])]),
        detected: data["detected"] === true || found.length > 0,
        engines: [...listOf(data["engines"]), "check"],
        patterns: [...listOf(data["patterns"]), ...found],
      },
    }
  }
}

function patternOf(name: string, result: CheckResult | null): string {
  const { categories = [] } = result ?? {}
  return categories.length > 0 ? `${name}: ${categories.join(", ")}` : name
}

function unavailable(name: string, side: Side): GatewayError {
  const effect = side === "response" ? "is withheld, but charged as usual" : "was not sent"
  return new GatewayError(
    "unavailable",
    `The content check ${name} of a guardrail is not available, so this ${side} ${effect}. Retry later.`,
    { metadata: { reason: "guardrail_unavailable", retryable: true } },
  )
}
