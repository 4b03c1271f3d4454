import { DEFAULT_THRESHOLDS } from "./alerts.ts"

/** Alert settings of an organization. Thresholds are percent of a limit, ascending. */
export type AlertSettings = {
  thresholds: readonly number[]
  provider_outages: boolean
  failing_destinations: boolean
  unusual_spend: boolean
}

export const DEFAULT_SETTINGS: AlertSettings = {
  thresholds: DEFAULT_THRESHOLDS,
  provider_outages: true,
  failing_destinations: true,
  unusual_spend: true,
}
