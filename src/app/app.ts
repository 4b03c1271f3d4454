import { Hono, type MiddlewareHandler } from "hono"
import { cors } from "hono/cors"
import { requireManagement } from "../access/guards.ts"
import { recordDenials } from "../audit/actor.ts"
import { audit } from "../audit/routes.ts"
import { alertChannels } from "../alerts/channel-routes.ts"
import { alerts } from "../alerts/routes.ts"
import { messageBatches } from "../batches/messages/message-batch-routes.ts"
import { batches } from "../batches/routes.ts"
import { budgets } from "../budgets/routes.ts"
import { providerBudgetRoutes } from "../budgets/provider-routes.ts"
import { responseCache } from "../response-cache/routes.ts"
import { aliases } from "../workspaces/alias-routes.ts"
import { byok } from "../byok/routes.ts"
import { keyLimits } from "../calls/limit-routes.ts"
import { calls } from "../calls/routes.ts"
import { connectLinks, connectRedemption } from "../connect/routes.ts"
import { connectPage } from "../connect/page-routes.ts"
import { credits, removedCredits } from "../organizations/credits-routes.ts"
import { datasets } from "../datasets/routes.ts"
import { onError, onNotFound } from "../http/error-response.ts"
import { enforceJurisdiction, requireConfiguration } from "./configuration.ts"
import { serveConsole } from "./console.ts"
import { describeApi } from "../http/openapi.ts"
import { healthHandler, readyHandler } from "./health.ts"
import { rejectRegional } from "../http/request/region.ts"
import { BASE_PATH, routePath } from "../http/paths.ts"
import { newRequestId } from "../support/ids.ts"
import { addBaseHeaders, EXPOSED_HEADERS } from "../http/response-headers.ts"
import { newRouter } from "../http/router.ts"
import { authenticate, authenticateProviderSdk, mountKeyed } from "./mount.ts"
import { recordingRejections } from "./rejections.ts"
import { rightsOver } from "./rights.ts"
import { serverTiming } from "../http/timing.ts"
import type { App } from "../access/app.ts"
import { serverEvents } from "../events/routes.ts"
import { exports } from "../files/export-routes.ts"
import { files } from "../files/routes.ts"
import { generations } from "../generations/routes.ts"
import { guardrailAssignments } from "../guardrails/assignment-routes.ts"
import { contentChecks } from "../guardrails/check-routes.ts"
import { guardrails } from "../guardrails/routes.ts"
import { gemini } from "../inference/gemini-routes.ts"
import { estimates } from "../inference/accounting/estimate-routes.ts"
import { mcpGateway } from "../inference/mcp/routes.ts"
import { media } from "../inference/media/routes.ts"
import { authenticateSession, realtime } from "../inference/realtime/routes.ts"
import { realtimeSecrets } from "../inference/realtime/secret-routes.ts"
import { inference } from "../inference/routes.ts"
import { requireInternsAccess } from "../interns/access/access.ts"
import { internChat } from "../interns/endpoints/chat-routes.ts"
import { internDaemons, internDaemonSocket } from "../interns/endpoints/daemon-routes.ts"
import { internFiles } from "../interns/endpoints/file-routes.ts"
import { interns } from "../interns/routes.ts"
import { internSchedules } from "../interns/endpoints/schedule-routes.ts"
import { internWebhooks } from "../interns/endpoints/webhook-routes.ts"
import { internPermissions } from "../interns/endpoints/permission-routes.ts"
import { internSessions } from "../interns/endpoints/session-routes.ts"
import { isSite } from "../interns/site.ts"
import { internSite } from "../interns/endpoints/site-routes.ts"
import { keys } from "../keys/routes.ts"
import { passthrough } from "../inference/passthrough/routes.ts"
import { passthroughServices } from "../passthrough/routes.ts"
import { mcpServerRoutes } from "../mcp-servers/routes.ts"
import { mediaModels } from "../models/media-routes.ts"
import { catalogueAdmin } from "../models/admin-routes.ts"
import { publicModels } from "../models/routes.ts"
import { keyedModels } from "../routing/routes.ts"
import { currentKey } from "../calls/current-key-routes.ts"
import { organizationMembers } from "../members/routes.ts"
import { workspaceMembers } from "../members/workspace-routes.ts"
import { authPage } from "../oauth/page-routes.ts"
import { oauthCodes, oauthKeys } from "../oauth/routes.ts"
import { oauthTokens } from "../oauth/token-routes.ts"
import { destinationActions } from "../observability/action-routes.ts"
import { metricsByKey, metricsByToken, metricsRoutes } from "../observability/metrics/metrics-routes.ts"
import { destinations } from "../observability/routes.ts"
import { organizations } from "../organizations/routes.ts"
import { presets } from "../presets/routes.ts"
import { reconciliations } from "../reconciliation/routes.ts"
import { SERVICE_PATH } from "../scim/directory.ts"
import { scimMappings } from "../scim/mapping/mapping-routes.ts"
import { scimDirectories } from "../scim/routes.ts"
import { scimService } from "../scim/service-routes.ts"
import { scimSync } from "../scim/sync/sync-routes.ts"
import { secrets } from "../secrets/routes.ts"
import { oidcSignIn } from "../sessions/oidc/routes.ts"
import { consoleSessions } from "../sessions/routes.ts"
import { usage } from "../usage/routes.ts"
import { daemonFiles } from "../interns/endpoints/daemon-file-routes.ts"
import { daemonSecrets } from "../interns/endpoints/daemon-secret-routes.ts"
import { vault } from "../interns/endpoints/vault-routes.ts"
import { apiBaseOf, destroyInternsOf } from "../interns/lifecycle/open-intern.ts"
import { workspaceRoutes } from "../workspaces/routes.ts"

/** All routes of the API, by authentication. */
export const api = newRouter()

// Without an API key: public routes, redemptions, and routes with the token of an intern's daemon.
for (const router of [
  publicModels,
  mediaModels,
  removedCredits,
  oauthKeys,
  oauthTokens,
  connectRedemption,
  daemonSecrets,
  daemonFiles,
  internDaemonSocket,
])
  api.route("/", router)

// With an API key.
for (const router of [
  inference,
  gemini,
  media,
  realtimeSecrets,
  keyedModels,
  generations,
  calls,
  keyLimits,
  estimates,
  currentKey,
  keys,
  connectLinks,
  credits,
  budgets,
  providerBudgetRoutes,
  aliases,
  responseCache,
  usage,
  datasets,
  audit,
])
  mountKeyed(api, router)
api.get("/realtime", recordDenials, authenticateSession(authenticate))
api.route("/", realtime)
const workspaces = workspaceRoutes((c, deleted) => destroyInternsOf(c.env, deleted, apiBaseOf(c)))
for (const router of [
  workspaces,
  workspaceMembers,
  organizationMembers,
  presets,
  // Before the routes of one guardrail, whose id would be `checks`.
  contentChecks,
  guardrails,
  guardrailAssignments,
])
  mountKeyed(api, router)
for (const router of [
  byok,
  vault,
  destinations,
  destinationActions,
  metricsRoutes,
  alerts,
  alertChannels,
  oauthCodes,
  files,
  batches,
  messageBatches,
  mcpServerRoutes,
  mcpGateway,
  passthroughServices,
  exports,
  scimDirectories,
  scimMappings,
  scimSync,
])
  mountKeyed(api, router)
mountKeyed(api, passthrough, authenticateProviderSdk)
for (const router of [
  interns,
  internChat,
  internSessions,
  internPermissions,
  internSchedules,
  internFiles,
  internWebhooks,
  internDaemons,
  serverEvents,
]) {
  mountKeyed(api, router)
}

// With the operator's key.
for (const router of [organizations, catalogueAdmin, reconciliations, secrets]) mountKeyed(api, router)

const sessions = consoleSessions(rightsOver(api, authenticate))
// These routes are in the OpenAPI document, but outside the API's base path.
for (const definition of [...sessions.openAPIRegistry.definitions, ...oidcSignIn.openAPIRegistry.definitions]) {
  if (definition.type === "route") api.openAPIRegistry.registerPath(definition.route)
}

api.get("/openapi.json", (c) => c.json(describeApi(api)))

const identify: MiddlewareHandler<App> = async function identify(c, next) {
  c.set("requestId", newRequestId())
  await next()
  addBaseHeaders(c.res.headers, c.var.requestId, c.req.url)
}

/** Hostnames of interns serve only their sites. */
const sites = new Hono<App>()
  .use(identify, requireConfiguration, enforceJurisdiction)
  .route("/", internSite)
  .onError(onError)
sites.notFound(onNotFound(() => false))

export const app = new Hono<App>({ getPath: routePath })

app.use(async function serveSites(c, next) {
  if (!isSite(c.req.raw, c.env)) return next()
  return sites.fetch(c.req.raw, c.env, c.executionCtx)
})
app.use(identify)
// Keys are sent in a header, never in a cookie, so a page of any origin may call with a key it has.
app.use(`${BASE_PATH}/*`, cors({ origin: "*", exposeHeaders: EXPOSED_HEADERS, maxAge: 86_400 }))
app.use(serverTiming)
app.get("/health", healthHandler)
app.get("/ready", readyHandler)
app.get(
  "/metrics",
  requireConfiguration,
  enforceJurisdiction,
  metricsByToken,
  authenticate,
  requireManagement,
  metricsByKey,
)
app.use(`${BASE_PATH}/*`, requireConfiguration)
// Daemons authenticate with separate tokens.
app.use(`${BASE_PATH}/interns/:internId/daemon/*`, enforceJurisdiction)
for (const path of ["/interns", "/vault", "/questions", "/mcp", "/passthrough"]) {
  app.use(`${BASE_PATH}${path}`, rejectRegional)
  app.use(`${BASE_PATH}${path}/*`, rejectRegional)
}
app.route(BASE_PATH, api)
for (const path of ["/console/session", "/console/sign-in", "/console/sign-in/*"]) app.use(path, requireConfiguration)
app.route("/", sessions)
app.route("/", oidcSignIn)
app.use("/auth", requireConfiguration)
app.route("/auth", authPage)
app.use("/connect/*", requireConfiguration, enforceJurisdiction)
app.route("/connect", connectPage)
app.use(`${SERVICE_PATH}/*`, requireConfiguration, enforceJurisdiction)
app.route(SERVICE_PATH, scimService)
app.onError(recordingRejections)
const notFound = onNotFound((method, path) =>
  app.router.match(method, path)[0].some(([[, route]]) => route.method === method),
)
const INTERNS_PATHS = new RegExp(`^${BASE_PATH}/(?:interns|vault)(?:/|$)`)
app.notFound(async (c) => {
  // Mounted last, so that no API request waits for it.
  const response = (await serveConsole(c.req.raw, c.env)) ?? (await notFound(c))
  // Outside the programme, a path of interns is unknown with every method.
  if (response.status === 405 && INTERNS_PATHS.test(c.req.path)) {
    await authenticate(c, async () => void (await requireInternsAccess(c, async () => undefined)))
  }
  return response
})
