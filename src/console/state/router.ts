import { computed, signal } from "@preact/signals"

/** Path and query of the page. The URL is the only state of navigation: it contains filters, tabs and open rows. */
const current = signal({ path: location.pathname, query: location.search })

export const path = computed(() => current.value.path)
export const query = computed(() => new URLSearchParams(current.value.query))

function sync(): void {
  current.value = { path: location.pathname, query: location.search }
}

export function navigate(url: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, "", url)
  else if (url !== location.pathname + location.search) history.pushState(null, "", url)
  sync()
}

type Values = Readonly<Record<string, string | readonly string[] | null>>

/** The current page with changed query values; null or an empty string removes one. */
export function withQuery(values: Values): string {
  const next = new URLSearchParams(current.value.query)
  for (const [name, value] of Object.entries(values)) {
    next.delete(name)
    for (const each of typeof value === "string" ? [value] : (value ?? [])) if (each !== "") next.append(name, each)
  }
  const text = next.toString().replaceAll("%2F", "/").replaceAll("%3A", ":")
  return text === "" ? current.value.path : `${current.value.path}?${text}`
}

/** Replaces the query without a history entry, so that Back leaves the page. */
export function setQuery(values: Values): void {
  navigate(withQuery(values), { replace: true })
}

/** Paths served by the gateway. */
const OF_GATEWAY = ["/api/", "/auth", "/console/sign-in"]

/** Links to this origin navigate without a page load. */
function followLink(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return
  const link = event.target instanceof Element ? event.target.closest("a") : null
  if (!link || link.target || link.hasAttribute("download") || link.origin !== location.origin) return
  if (OF_GATEWAY.some((start) => link.pathname.startsWith(start))) return
  if (link.hash !== "" && link.pathname === location.pathname && link.search === location.search) return
  event.preventDefault()
  navigate(link.pathname + link.search + link.hash)
}

addEventListener("popstate", sync)
addEventListener("click", followLink)
