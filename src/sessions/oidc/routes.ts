import { createRoute } from "@hono/zod-openapi"
import type { Context } from "hono"
import { deleteCookie, getCookie, setCookie } from "hono/cookie"
import * as z from "zod"
import type { App } from "../../access/app.ts"
import { originOf } from "../../audit/actor.ts"
import { GatewayError } from "../../errors/errors.ts"
import { hostCookieName, isSecure } from "../../http/host-cookie.ts"
import { newRouter } from "../../http/router.ts"
import { failures, ok } from "../../http/schema.ts"
import { masterKeysOf } from "../../secrets/master-key.ts"
import { logWarning } from "../../support/log.ts"
import type { ConsoleSession } from "../cookie.ts"
import { sessionCookie } from "../session-cookie.ts"
import { emailOf } from "./identity.ts"
import { type SignInRejection, signInMember } from "./person.ts"
import { discover, exchangeCode } from "./provider.ts"
import { type OidcSettings, oidcSettings } from "./settings.ts"
import {
  challengeOf,
  newTransaction,
  openTransaction,
  safePath,
  sealTransaction,
  type Transaction,
  TRANSACTION_MS,
} from "./transaction.ts"

const PATH = "/console/sign-in"
const CALLBACK = `${PATH}/callback`
const shared = { tags: ["Console"], servers: [{ url: "/" }], security: [] as never[] }
const moved = { 302: { description: "Redirect to the page in `Location`." } }

const options = createRoute({
  ...shared,
  method: "get",
  path: PATH,
  operationId: "getConsoleSignIn",
  summary: "Get the ways to sign in",
  responses: {
    200: ok(
      z.object({
        data: z
          .object({
            oidc: z
              .object({ name: z.string() })
              .nullable()
              .meta({ description: "The identity provider; null if the deployment has none." }),
          })
          .meta({ id: "ConsoleSignIn" }),
      }),
    ),
    ...failures("internal"),
  },
})

const begin = createRoute({
  ...shared,
  method: "get",
  path: `${PATH}/oidc`,
  operationId: "beginConsoleSignIn",
  summary: "Sign in with the identity provider",
  description: "A page to open in a browser: it redirects to the provider, which redirects back.",
  request: {
    query: z.object({
      return_to: z.string().max(1_024).optional().meta({ description: "Path of this gateway to show afterwards." }),
      organization: z.string().max(64).optional().meta({
        description: "Id of the organization, for members of several. Default: the one that they joined first.",
      }),
    }),
  },
  responses: { ...moved, ...failures("invalid_request", "not_found", "internal") },
})

const callback = createRoute({
  ...shared,
  method: "get",
  path: CALLBACK,
  operationId: "endConsoleSignIn",
  summary: "Return from the identity provider",
  description: "The redirect URI of the client at the provider. Sets the session cookie.",
  request: {
    query: z.object({
      code: z.string().max(4_096).optional().meta({ description: "Authorization code of the provider." }),
      state: z.string().max(256).optional().meta({ description: "State of the sign-in." }),
      iss: z.string().max(1_024).optional().meta({ description: "Issuer of the response (RFC 9207)." }),
      error: z.string().max(256).optional().meta({ description: "Why there is no code, such as `access_denied`." }),
    }),
  },
  responses: { ...moved, ...failures("invalid_request", "not_found", "internal") },
})

/** Sign-in with OpenID Connect: authorization code, PKCE, state and nonce. */
export const oidcSignIn = newRouter()
  .openapi(options, (c) => {
    const settings = oidcSettings(c.env)
    return c.json({ data: { oidc: settings ? { name: settings.name } : null } }, 200)
  })
  .openapi(begin, async (c) => {
    const settings = requireSettings(c.env)
    const now = Date.now()
    const { return_to: returnTo, organization } = c.req.valid("query")
    const transaction = newTransaction(safePath(returnTo, new URL(c.req.url).origin), organization, now)
    const url = await authorizationUrl(c, settings, transaction, now)
    if (url === undefined) return c.redirect(rejectionUrl("provider"), 302)
    setCookie(c, cookieName(c), await sealTransaction(transaction, masterKeysOf(c.env)), {
      ...attributesFor(c),
      maxAge: TRANSACTION_MS / 1_000,
    })
    return c.redirect(url, 302)
  })
  .openapi(callback, async (c) => {
    const settings = requireSettings(c.env)
    const now = Date.now()
    const transaction = await openTransaction(getCookie(c, cookieName(c)), masterKeysOf(c.env), now)
    // A transaction is used once, whether or not it succeeds.
    deleteCookie(c, cookieName(c), attributesFor(c))
    const { code, state, error, iss } = c.req.valid("query")
    if (!transaction || state !== transaction.state) return c.redirect(rejectionUrl("expired"), 302)
    if (error !== undefined || code === undefined) {
      return c.redirect(rejectionUrl(error === "access_denied" ? "cancelled" : "provider"), 302)
    }
    const outcome = await finish(c, settings, { transaction, code, iss, now })
    if (typeof outcome === "string") return c.redirect(rejectionUrl(outcome), 302)
    setCookie(c, ...(await sessionCookie(outcome, { url: c.req.url, masters: masterKeysOf(c.env), now })))
    return c.redirect(transaction.returnTo, 302)
  })

type Reason = SignInRejection | "expired" | "cancelled" | "provider" | "unverified"

/** The sign-in page explains the reason. Text from the provider is never shown. */
function rejectionUrl(reason: Reason): string {
  return `/?sign_in=${reason}`
}

function requireSettings(env: App["Bindings"]): OidcSettings {
  const settings = oidcSettings(env)
  if (settings) return settings
  throw new GatewayError("not_found", "This deployment has no identity provider: set OIDC_ISSUER and OIDC_CLIENT_ID.")
}

function cookieName(c: Context<App>): string {
  return hostCookieName("gateway_sign_in", c.req.url)
}

/** Lax: the browser returns from the provider's page. */
function attributesFor(c: Context<App>) {
  return { path: "/", httpOnly: true, sameSite: "Lax", secure: isSecure(c.req.url) } as const
}

function redirectUri(c: Context<App>): string {
  return `${new URL(c.req.url).origin}${CALLBACK}`
}

async function authorizationUrl(
  c: Context<App>,
  settings: OidcSettings,
  transaction: Transaction,
  now: number,
): Promise<string | undefined> {
  const provider = await discover(settings, now).catch((cause: unknown) => report(c, cause))
  if (!provider) return undefined
  const url = new URL(provider.authorization_endpoint)
  const parameters = {
    response_type: "code",
    client_id: settings.clientId,
    redirect_uri: redirectUri(c),
    scope: "openid email profile",
    state: transaction.state,
    nonce: transaction.nonce,
    code_challenge: await challengeOf(transaction),
    code_challenge_method: "S256",
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}

type Return = { transaction: Transaction; code: string; iss: string | undefined; now: number }

async function finish(
  c: Context<App>,
  settings: OidcSettings,
  { now, ...returned }: Return,
): Promise<ConsoleSession | Reason> {
  const email = await identify(c, settings, { now, ...returned }).catch((cause: unknown) => report(c, cause))
  if (email === undefined) return "provider"
  if (email === null) return "unverified"
  const { organizationId } = returned.transaction
  const origin = originOf(c)
  return signInMember({ env: c.env, email, organizationId, origin })
}

async function identify(
  c: Context<App>,
  settings: OidcSettings,
  { transaction, code, iss, now }: Return,
): Promise<string | null | undefined> {
  const provider = await discover(settings, now)
  // RFC 9207: a response of another provider is rejected before its code is sent anywhere.
  const isMixedUp =
    iss === undefined ? provider.authorization_response_iss_parameter_supported : iss !== settings.issuer
  if (isMixedUp) return report(c, new Error("The response came from another provider."))
  const { nonce, verifier } = transaction
  const tokens = await exchangeCode(provider, settings, { code, verifier, redirectUri: redirectUri(c) })
  return emailOf({ token: tokens.id_token, accessToken: tokens.access_token, provider, settings, nonce, now })
}

function report(c: Context<App>, cause: unknown): undefined {
  const reason = cause instanceof Error ? cause.message : String(cause)
  logWarning("sign-in with the identity provider failed", { requestId: c.var.requestId, reason })
}
