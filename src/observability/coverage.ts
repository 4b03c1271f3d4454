import { sha256Hex } from "../support/text/encoding.ts"
import { type DestinationRow, toLists } from "./destination.ts"
import type { FilterRules } from "./schemas.ts"

/** Filter of a destination, as far as it can be evaluated before a call. Pure. */
export type DestinationFilter = {
  keyHashes: readonly string[] | null
  regions: readonly string[]
  samplingRate: number
  /** The filter or the export needs the content of calls. */
  readsContent: boolean
}

export type HeadRow = Pick<
  DestinationRow,
  "api_key_hashes" | "filter_rules" | "regions" | "sampling_rate" | "privacy_mode"
>

export function toHead(row: HeadRow): DestinationFilter {
  const { api_key_hashes: keyHashes, filter_rules: rules, regions } = toLists(row)
  const readsContent = row.privacy_mode === 0 || (rules !== null && readsText(rules))
  return { keyHashes, regions, samplingRate: row.sampling_rate, readsContent }
}

function readsText({ enabled, groups }: FilterRules): boolean {
  return enabled && groups.some(({ rules }) => rules.some(({ field }) => field === "input" || field === "output"))
}

export type CallScope = { keyHash: string; region: string; sessionId: string | null; id: string }

/**
 * Whether a destination covers a call: by its key, its region, and the sample of its session or, without one, of the
 * call.
 */
export function matches({ keyHashes, regions, samplingRate }: DestinationFilter, call: CallScope): boolean {
  if (keyHashes !== null && !keyHashes.includes(call.keyHash)) return false
  return regions.includes(call.region) && sampleOf(call.sessionId ?? call.id) < samplingRate
}

const SAMPLE_DIGITS = 12

/** Deterministic hash of a text to a number in [0, 1). */
export function sampleOf(text: string): number {
  return Number.parseInt(sha256Hex(text).slice(0, SAMPLE_DIGITS), 16) / 16 ** SAMPLE_DIGITS
}
