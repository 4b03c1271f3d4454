import type { OpenAPIHono } from "@hono/zod-openapi"
import type { App } from "../access/app.ts"
import { recordDenials } from "../audit/actor.ts"
import { authenticateWith, providerSdkCredentialOf } from "../policy/authenticate.ts"
import { sessionPrincipal } from "../sessions/session.ts"

/** Every keyed route takes an API key, or a session of the console. */
export const authenticate = authenticateWith(sessionPrincipal)
/** For routes that clients of other vendors' APIs call. */
export const authenticateProviderSdk = authenticateWith(sessionPrincipal, providerSdkCredentialOf)

/** Mounts a router whose every route needs a valid key, which is checked first. */
export function mountKeyed(api: OpenAPIHono<App>, router: OpenAPIHono<App>, handler = authenticate): void {
  const routes = new Set(router.routes.map(({ method, path }) => `${method} ${path}`))
  for (const route of routes) {
    const [method = "", path = ""] = route.split(" ")
    api.on(method, path, recordDenials, handler)
  }
  api.route("/", router)
}
