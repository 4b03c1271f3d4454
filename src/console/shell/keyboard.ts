import { useLayoutEffect } from "preact/hooks"
import { signal } from "@preact/signals"
import { toggleExactAmounts } from "../state/amounts.ts"

/** Which of the shell's dialogs is open. */
export const openDialog = signal<"palette" | "help" | null>(null)

export const openPalette = () => {
  openDialog.value = "palette"
}
export const openHelp = () => {
  openDialog.value = "help"
}
export const closeDialog = () => {
  openDialog.value = null
}

export const SHORTCUTS = [
  ["Ctrl K", "Go to a page or an object, or run an action"],
  ["/", "Move to the filter of the page"],
  ["j, k", "Next and previous row"],
  ["Enter", "Open the row"],
  ["Esc", "Close, or back to the list"],
  ["$", "Exact or rounded amounts"],
  ["?", "This list"],
] as const

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("input, textarea, select, [contenteditable]")
}

/** The link of a row, or its first control. */
const ROW_FOCUS = "a, button"

function moveRow(step: 1 | -1): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-rows] [role="row"]')]
  if (rows.length === 0) return false
  const focused = rows.findIndex((row) => row.contains(document.activeElement))
  const selected = rows.findIndex((row) => row.getAttribute("aria-selected") === "true")
  const from = focused === -1 ? selected : focused
  const row = rows[Math.min(rows.length - 1, Math.max(0, from + step))]
  const target = row?.querySelector<HTMLElement>(ROW_FOCUS)
  target?.focus({ preventScroll: true })
  row?.scrollIntoView({ block: "nearest" })
  return target !== undefined
}

/** The parent page, such as the list. */
let escape: (() => void) | undefined

/** Handles Escape while the component is shown, from its first frame on: users do not wait for effects. */
export function useEscape(action: (() => void) | undefined, inputs: readonly unknown[]): void {
  useLayoutEffect(() => {
    escape = action
    return () => {
      escape = undefined
    }
  }, inputs)
}

addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    event.preventDefault()
    if (openDialog.value === "palette") closeDialog()
    else openPalette()
    return
  }
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return
  if (event.key === "Escape") {
    if (isTyping(event.target) && event.target instanceof HTMLElement) event.target.blur()
    else escape?.()
    return
  }
  if (isTyping(event.target)) return
  if (event.key === "?") openHelp()
  else if (event.key === "/") document.querySelector<HTMLElement>("[data-filter]")?.focus()
  else if (event.key === "$") toggleExactAmounts()
  else if (event.key === "j") moveRow(1)
  else if (event.key === "k") moveRow(-1)
  else return
  event.preventDefault()
})
