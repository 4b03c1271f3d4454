import type { ComponentType } from "preact"
import { matchPath, type PageProps, type Params } from "./state/paths.ts"
import type { IconName } from "./ui/icon.tsx"

type PageComponent = ComponentType<PageProps>
type Loader = () => Promise<{ default: PageComponent }>

export type Route = {
  pattern: string
  load: Loader
  /** The page shows a list and the object of its open row, so it stays for the next object. */
  opensRows?: boolean
  /** Any key may open the page, also if it may not open the list that the page belongs to. */
  forAnyKey?: boolean
}

/** An entry of the sidebar and of the palette. `area`: that of the API that its pages need. */
export type Entry = { path: string; label: string; icon: IconName; area?: string; group?: "foot" }

export const entries: readonly Entry[] = [
  { path: "/", label: "Overview", icon: "overview" },
  { path: "/playground", label: "Playground", icon: "playground", area: "chat:write" },
  { path: "/calls", label: "Calls", icon: "calls" },
  { path: "/batches", label: "Batches", icon: "batches", area: "batches:read" },
  { path: "/interns", label: "Interns", icon: "interns", area: "interns:read" },
  { path: "/models", label: "Models", icon: "models" },
  { path: "/providers", label: "Providers", icon: "providers", area: "byok:read" },
  { path: "/keys", label: "Keys", icon: "keys" },
  { path: "/mcp-servers", label: "MCP servers", icon: "mcp", area: "mcp-servers:read" },
  { path: "/passthrough-services", label: "Services", icon: "services", area: "passthrough-services:read" },
  { path: "/guardrails", label: "Guardrails", icon: "guardrails", area: "guardrails:read" },
  { path: "/presets", label: "Presets", icon: "presets", area: "presets:read" },
  { path: "/team", label: "Team", icon: "team", area: "members:read" },
  { path: "/settings", label: "Settings", icon: "settings", area: "observability:read" },
  { path: "/docs", label: "API reference", icon: "docs", group: "foot" },
]

const loadCalls: Loader = () => import("./pages/calls/page.tsx")
const loadReference: Loader = () => import("./pages/reference/page.tsx")

/** All pages; the first matching pattern is shown. Each page is a separate chunk. */
export const routes: readonly Route[] = [
  { pattern: "/", load: () => import("./pages/overview/page.tsx") },
  { pattern: "/playground", load: () => import("./pages/playground/page.tsx") },
  { pattern: "/calls", load: loadCalls, opensRows: true },
  { pattern: "/calls/:id", load: loadCalls, opensRows: true },
  { pattern: "/batches", load: () => import("./pages/batches/page.tsx") },
  { pattern: "/batches/:id", load: () => import("./pages/batches/batch-page.tsx") },
  { pattern: "/mcp-servers", load: () => import("./pages/mcp-servers/page.tsx") },
  { pattern: "/mcp-servers/:slug", load: () => import("./pages/mcp-servers/server-page.tsx") },
  { pattern: "/passthrough-services", load: () => import("./pages/services/page.tsx") },
  { pattern: "/keys", load: () => import("./pages/keys/page.tsx") },
  { pattern: "/keys/:hash", load: () => import("./pages/keys/key-page.tsx") },
  { pattern: "/models", load: () => import("./pages/models/page.tsx") },
  { pattern: "/models/:id*", load: () => import("./pages/models/model-page.tsx") },
  { pattern: "/providers", load: () => import("./pages/providers/page.tsx") },
  { pattern: "/providers/:slug", load: () => import("./pages/providers/provider-page.tsx"), forAnyKey: true },
  { pattern: "/guardrails", load: () => import("./pages/guardrails/page.tsx") },
  { pattern: "/guardrails/:id", load: () => import("./pages/guardrails/guardrail-page.tsx") },
  { pattern: "/presets", load: () => import("./pages/presets/page.tsx") },
  { pattern: "/presets/:slug", load: () => import("./pages/presets/preset-page.tsx") },
  { pattern: "/team", load: () => import("./pages/team/page.tsx") },
  { pattern: "/settings", load: () => import("./pages/settings/page.tsx") },
  { pattern: "/interns", load: () => import("./pages/interns/page.tsx") },
  { pattern: "/interns/:id", load: () => import("./pages/interns/intern-page.tsx") },
  { pattern: "/docs", load: loadReference, opensRows: true },
  { pattern: "/docs/:operation", load: loadReference, opensRows: true },
  { pattern: "/console/components", load: () => import("./pages/components/page.tsx") },
]

/** The page and the parameters of a path. */
export function pageOf(pathname: string): { route: Route; params: Params } | undefined {
  for (const route of routes) {
    const params = matchPath(route.pattern, pathname)
    if (params) return { route, params }
  }
  return undefined
}

/** The entry of a page. */
export function entryOf(pathname: string): Entry | undefined {
  return entries.find(({ path }) => pathname === path || (path !== "/" && pathname.startsWith(`${path}/`)))
}

const arrived = new WeakMap<Loader, PageComponent>()

/** The component of a page whose code is already loaded. */
export function loadedPage({ load }: Route): PageComponent | undefined {
  return arrived.get(load)
}

export async function loadPage({ load }: Route): Promise<void> {
  const { default: Component } = await load()
  arrived.set(load, Component)
}
