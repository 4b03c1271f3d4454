import { effect, signal } from "@preact/signals"

export type Theme = "system" | "light" | "dark"
const NAME = "console.theme"

function readTheme(): Theme {
  const value = localStorage.getItem(NAME)
  return value === "light" || value === "dark" ? value : "system"
}

export const theme = signal<Theme>(readTheme())
const systemDark = matchMedia("(prefers-color-scheme: dark)")
export const isDark = signal(false)

function refresh(): void {
  isDark.value = theme.value === "dark" || (theme.value === "system" && systemDark.matches)
}
systemDark.addEventListener("change", refresh)

effect(() => {
  const root = document.documentElement
  if (theme.value === "system") delete root.dataset["theme"]
  else root.dataset["theme"] = theme.value
  if (theme.value === "system") localStorage.removeItem(NAME)
  else localStorage.setItem(NAME, theme.value)
  refresh()
})
