import type { Model } from "../../api/types.ts"

/** Faults that the simulated provider can cause, and their effect on clients. */
const FAULTS = [
  ["sim/status-429", "Rate limit (429)"],
  ["sim/status-503", "Provider down (503)"],
  ["sim/status-401", "Provider key rejected (401)"],
  ["sim/first-frame-error", "Error as the first event"],
  ["sim/late-error", "Error after ten tokens"],
  ["sim/cut", "Connection lost inside an event"],
  ["sim/stall", "Stream stalls"],
  ["sim/slow", "First token after six seconds"],
  ["sim/no-usage", "No usage reported"],
  ["sim/zero-usage", "Usage of zero reported"],
  ["sim/empty", "Empty body"],
  ["sim/html", "A web page instead of a response"],
] as const

export type Fault = { model: string; label: string }

/** The simulated provider is not in production, so neither are its faults. */
export function faultsIn(models: readonly Model[]): Fault[] {
  const ids = new Set(models.map(({ id }) => id))
  return FAULTS.filter(([model]) => ids.has(model)).map(([model, label]) => ({ model, label }))
}
