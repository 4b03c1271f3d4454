import { signal } from "@preact/signals"

const narrowScreen = matchMedia("(max-width: 719px)")
const isNarrow = signal(narrowScreen.matches)
narrowScreen.addEventListener("change", () => {
  isNarrow.value = narrowScreen.matches
})

/** Whether the screen has the width of a phone. */
export function useNarrow(): boolean {
  return isNarrow.value
}
