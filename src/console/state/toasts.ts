import { signal } from "@preact/signals"
import { ApiError } from "../api/client.ts"
import type { Tone } from "../ui/status.tsx"

export type Toast = { id: number; tone: Tone; text: string; action?: { label: string; run: () => void } }

export const toasts = signal<readonly Toast[]>([])
const SHOWN_MS = 6_000
let lastId = 0

export function toast(tone: Tone, text: string, action?: Toast["action"]): void {
  lastId += 1
  const id = lastId
  toasts.value = [...toasts.value.slice(-3), { id, tone, text, ...(action && { action }) }]
  // An error stays until it was read.
  if (tone !== "bad") setTimeout(() => dismiss(id), SHOWN_MS)
}

export function dismiss(id: number): void {
  toasts.value = toasts.value.filter((each) => each.id !== id)
}

/** Turns something on or off and reports the result, with the opposite as its undo. */
export function attemptToggle(
  isOn: boolean,
  change: (isOn: boolean) => Promise<unknown>,
  textOf: (isOn: boolean) => string,
): Promise<boolean> {
  const undo = { label: "Undo", run: () => void attempt(() => change(!isOn), textOf(!isOn)) }
  return attempt(() => change(isOn), textOf(isOn), undo)
}

/** Runs a change and reports the result. True if it succeeded; then `undo` is offered. */
export async function attempt(
  change: () => Promise<unknown>,
  success: string,
  undo?: Toast["action"],
): Promise<boolean> {
  try {
    await change()
    toast("good", success, undo)
    return true
  } catch (thrown) {
    toast("bad", ApiError.fromThrown(thrown).message)
    return false
  }
}
