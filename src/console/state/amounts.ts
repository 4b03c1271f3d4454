import { effect } from "@preact/signals"
import { hasExactAmounts } from "../format/number.ts"

const NAME = "console.amounts"

hasExactAmounts.value = localStorage.getItem(NAME) === "exact"

effect(() => {
  if (hasExactAmounts.value) document.documentElement.dataset["amounts"] = "exact"
  else delete document.documentElement.dataset["amounts"]
})

/** Amounts of all pages to the nano-dollar, or rounded. */
export function chooseExactAmounts(isExact: boolean): void {
  hasExactAmounts.value = isExact
  if (isExact) localStorage.setItem(NAME, "exact")
  else localStorage.removeItem(NAME)
}

export const toggleExactAmounts = () => chooseExactAmounts(!hasExactAmounts.value)
