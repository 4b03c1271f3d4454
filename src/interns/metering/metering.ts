import type { Env } from "../../config/env.ts"
import { openLedger } from "../../ledger/client.ts"
import type { Generation } from "../../ledger/generation.ts"
import { nanoToUsd } from "../../money/money.ts"
import { findCallsOfKey } from "./metering-store.ts"
import { findIntern } from "../store.ts"
import type { ModelUsage, TurnUsage } from "../run/acp/acp.ts"
import { addModels } from "../run/transcript.ts"

type Owner = { id: string; organizationId: string; workspaceId: string }

/** Calls of the intern's key charged since `since`, from the ledger and from D1. */
export async function callsOf(env: Env, intern: Owner, since: number): Promise<Generation[]> {
  const row = await findIntern(env.DB, intern, intern.id)
  if (!row) return []
  const { keyHash, organizationId } = row
  // Reads the ledger first: a record that is delivered meanwhile is then in both, not in neither.
  const undeliveredCalls = await openLedger(env, organizationId).undeliveredCalls(keyHash, since)
  const delivered = await findCallsOfKey(env.DB, { organizationId, keyHash }, since)
  return [...new Map([...delivered, ...undeliveredCalls].map((call) => [call.id, call])).values()]
}

/** Usage of a turn from its calls; null for no calls. */
export function meter(calls: readonly Generation[]): TurnUsage | null {
  const models = calls.reduce<ModelUsage[]>((sum, { model, tokens, costNano }) => {
    const { prompt, completion, cached } = tokens
    const usage = { model, calls: 1, prompt_tokens: prompt, completion_tokens: completion, cost: nanoToUsd(costNano) }
    return addModels(sum, [{ ...usage, ...(cached > 0 && { cached_tokens: cached }) }])
  }, [])
  return models.length === 0 ? null : totalOf(models)
}

function totalOf(models: ModelUsage[]): TurnUsage {
  const sum = (count: (one: ModelUsage) => number) => models.reduce((total, one) => total + count(one), 0)
  const [prompt, completion] = [sum((one) => one.prompt_tokens), sum((one) => one.completion_tokens)]
  const cached = sum((one) => one.cached_tokens ?? 0)
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...(cached > 0 && { prompt_tokens_details: { cached_tokens: cached } }),
    cost: sum((one) => one.cost),
    by_model: models,
  }
}
