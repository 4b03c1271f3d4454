import type { Env as HonoEnv, Hono } from "hono"
import { isAllowedBy } from "../access/guards.ts"
import type { Principal } from "../access/principal.ts"

/** One right with the handlers of the routes that it covers. */
type Right = { name: string; handlers: object[] }

/**
 * The rights of a principal over the routes of a router: `<area>:read` for the GET routes of an area and `<area>:write`
 * for the others, unless a guard of these routes rejects it. `authenticate`: the handler of routes with a key.
 */
export function rightsOver<E extends HonoEnv>(router: Hono<E>, authenticate: object): (p: Principal) => string[] {
  let rights: readonly Right[] | undefined
  return (principal) => {
    rights ??= collectRights(router, authenticate)
    return rights
      .filter(({ handlers }) => handlers.every((handler) => isAllowedBy(handler, principal)))
      .map(({ name }) => name)
  }
}

function collectRights<E extends HonoEnv>({ routes }: Hono<E>, authenticate: object): Right[] {
  const isKeyed = new Set(routes.filter(({ handler }) => handler === authenticate).map(nameOf))
  const byRight = Map.groupBy(
    routes.filter((route) => isKeyed.has(nameOf(route))),
    rightOf,
  )
  const rights = [...byRight].map(([name, covered]) => ({ name, handlers: covered.map(({ handler }) => handler) }))
  return rights.sort((a, b) => (a.name < b.name ? -1 : 1))
}

type Route = { method: string; path: string }

const nameOf = ({ method, path }: Route) => `${method} ${path}`

export function rightOf({ method, path }: Route): string {
  return `${areaOf(path)}:${method === "GET" ? "read" : "write"}`
}

/** The first segment of a path. Resources of workspaces and organizations have separate areas. */
function areaOf(path: string): string {
  const [first = "", second] = path.split("/").filter((segment) => segment !== "" && !segment.startsWith(":"))
  return (first === "workspaces" || first === "organization") && second !== undefined ? second : first
}
