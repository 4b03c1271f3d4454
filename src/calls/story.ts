import type * as z from "zod"
import type { Generation } from "../ledger/generation.ts"
import { isLimited } from "../ledger/limits.ts"
import { parseScope } from "../ledger/scopes.ts"
import { costLines, formatPico } from "../money/cost-lines.ts"
import { nanoToUsd } from "../money/money.ts"
import { toTimestamp } from "../support/time/time.ts"
import type { CallStory } from "./schemas.ts"

type Story = z.infer<typeof CallStory>

const PICO_PER_NANO = 1_000n
const toPico = (nano: number) => BigInt(nano) * PICO_PER_NANO

/**
 * The cost of a call by kind, at the prices at that time. The lines add up to the total exactly: fractions of a
 * nano-dollar are rounded up, and usage that the provider counted above the hold is not charged.
 */
export function arithmeticOf(generation: Generation): Story["arithmetic"] {
  const { tokens, pricing, tokensFrom, costNano, byokCostNano } = generation
  const total = toPico(costNano + byokCostNano)
  const items = pricing && tokensFrom !== "none" ? costLines(tokens, pricing) : []
  const sum = items.reduce((all, { pico }) => all + pico, 0n)
  const rounding = (PICO_PER_NANO - (sum % PICO_PER_NANO)) % PICO_PER_NANO
  const rest = total - sum - rounding
  const extra = (kind: string, pico: bigint) =>
    pico === 0n ? [] : [{ kind, units: null, price: null, amount: formatPico(pico) }]
  return {
    lines: [
      ...items.map(({ kind, units, price, pico }) => ({ kind, units, price, amount: formatPico(pico) })),
      ...extra("rounding", rounding),
      ...extra(rest < 0n ? "above_hold" : "unitemized", rest),
    ],
    total: formatPico(total),
    paid_by: total === 0n ? "nobody" : generation.isByok ? "byok" : "balance",
  }
}

export function timesOf(generation: Generation, settledAt: number): Story["times"] {
  const { createdAt, latencyMs, generationMs, attempts } = generation
  const lastAttemptMs = attempts.at(-1)?.latencyMs
  const before = attempts.slice(0, -1).reduce((sum, attempt) => sum + attempt.latencyMs, 0)
  const firstAt = latencyMs === null ? null : createdAt + latencyMs
  // Without a successful attempt, the last attempt began after the others.
  const lastSentAt = lastAttemptMs === undefined ? null : createdAt + before
  const sentAt = firstAt === null ? lastSentAt : Math.max(createdAt, firstAt - (lastAttemptMs ?? 0))
  const timestampOf = (instant: number | null) => (instant === null ? null : toTimestamp(instant))
  return {
    received: toTimestamp(createdAt),
    sent: timestampOf(sentAt),
    first_token: timestampOf(firstAt),
    last_token: timestampOf(firstAt === null ? null : firstAt + (generationMs ?? 0)),
    settled: toTimestamp(settledAt),
  }
}

/** Ids of the records whose limits applied to a call. */
export function limitIdsOf({ limits = [] }: Generation): string[] {
  return limits.filter(isLimited).map(({ scope }) => parseScope(scope).id)
}

export function heldOf({ heldNano, limits = [] }: Generation, names: ReadonlyMap<string, string>): Story["held"] {
  if (heldNano === undefined) return null
  return {
    amount: formatPico(toPico(heldNano)),
    limits: limits.filter(isLimited).flatMap(({ scope, limitNano, interval }) => {
      const { kind, id } = parseScope(scope)
      if (kind === "balance") return []
      return [
        { kind, id, name: names.get(id) ?? (kind === "provider" ? id : null), limit: nanoToUsd(limitNano), interval },
      ]
    }),
  }
}

export function trailOf({ attempts }: Generation): Story["trail"] {
  return attempts.map(
    ({ provider, model, status, latencyMs, isByok = false, keyNumber, cache = null, error = null }) => ({
      provider,
      model,
      status,
      duration_ms: latencyMs,
      is_byok: isByok,
      key_number: keyNumber ?? null,
      cache,
      error,
    }),
  )
}

export function tokensByKind({ tokens }: Generation): Record<string, number> {
  const names: Readonly<Record<string, string>> = {
    cacheWrite: "cache_write",
    cacheWrite1h: "cache_write_1h",
    pictures: "image_output",
    seconds: "seconds",
    searches: "web_search",
  }
  const nonZero = Object.entries(tokens).filter(([, count]) => count > 0)
  return Object.fromEntries(nonZero.map(([name, count]) => [names[name] ?? name, count]))
}
