import type { KeyRow } from "./table.ts"

/** The columns of a key's limits, in the order of the table. */
export type LimitTerms = Pick<
  KeyRow,
  | "limitNano"
  | "limitReset"
  | "includeByokInLimit"
  | "dailyLimitNano"
  | "spentBeforeNano"
  | "counterHash"
  | "limitIncrease"
>

export function limitTermsOf(row: LimitTerms): LimitTerms {
  const { limitNano, limitReset, includeByokInLimit, dailyLimitNano, spentBeforeNano, counterHash, limitIncrease } = row
  return { limitNano, limitReset, includeByokInLimit, dailyLimitNano, spentBeforeNano, counterHash, limitIncrease }
}
