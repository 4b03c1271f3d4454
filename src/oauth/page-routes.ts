import { clientIpOf } from "../http/request/client-ip.ts"
import { type Context, Hono, type MiddlewareHandler } from "hono"
import { getCookie, setCookie } from "hono/cookie"
import { principalByHash } from "../policy/authenticate.ts"
import type { Principal } from "../access/principal.ts"
import { hashKey } from "../access/key.ts"
import { asGatewayError, GatewayError } from "../errors/errors.ts"
import { hostCookieName, isSecure } from "../http/host-cookie.ts"
import { showPage } from "../http/page.ts"
import { validate } from "../http/validate.ts"
import type { App } from "../access/app.ts"
import { logError } from "../support/log.ts"
import { readAtMost } from "../support/bytes.ts"
import { findWorkspaceRow } from "../workspaces/store.ts"
import { withParameters } from "./callback.ts"
import { approverError, describeKey } from "./code.ts"
import { consentPage, errorPage, signInPage } from "./page.ts"
import { approve } from "./routes.ts"
import { AuthForm, AuthQuery, type CodeRequest } from "./schemas.ts"
import { formToken, isFormToken, newSession, readCookie, type Session, toCookie } from "./session.ts"

const COOKIE = "gateway_auth"
const MAX_FORM_BYTES = 65_536

const invalidForm = () => new GatewayError("invalid_request", "Invalid form submission. Reload the page and try again.")

const acceptForm: MiddlewareHandler<App> = async function acceptForm(c, next) {
  const { body } = c.req.raw
  const type = c.req.header("content-type") ?? ""
  const bytes = body && type.startsWith("application/x-www-form-urlencoded") && (await readAtMost(body, MAX_FORM_BYTES))
  if (!bytes) throw invalidForm()
  c.req.raw = new Request(c.req.raw, { method: c.req.method, body: bytes })
  return next()
}

/** The page on which a user approves an app: at the root of the host, where clients of this API expect it. */
export const authPage = new Hono<App>()

authPage.get("/", validate("query", AuthQuery), async (c) => {
  const appRequest = { request: c.req.valid("query"), query: queryOf(c) }
  const session = (await sessionOf(c)) ?? newSession(null, Date.now())
  const principal = session.keyHash === null ? undefined : await principalByHash(session.keyHash, c.env, Date.now())
  const fault = principal && approverError(principal)
  return principal && fault === undefined
    ? showConsent(c, appRequest, session, principal)
    : showSignIn(c, appRequest, session, fault)
})

const validForm = validate("form", AuthForm, invalidForm)

authPage.post("/", validate("query", AuthQuery), acceptForm, validForm, async (c) => {
  const appRequest = { request: c.req.valid("query"), query: queryOf(c) }
  const form = c.req.valid("form")
  const session = await sessionOf(c)
  const purpose = form.action === "sign_in" ? "sign_in" : "decide"
  const isValid = session && (await isFormToken(form.token, { session, purpose, query: appRequest.query }, masterOf(c)))
  if (!isValid) {
    throw new GatewayError("forbidden", "This page has expired or was not opened here. Go back to the app.")
  }
  if (form.action === "sign_in") return signIn(c, appRequest, session, form.api_key)
  if (form.action === "sign_out") return redirect(c, `/auth?${appRequest.query}`, newSession(null, Date.now()))
  if (form.action === "deny") return redirect(c, callbackOf(appRequest, { error: "access_denied" }), session)
  const principal = session.keyHash === null ? undefined : await principalByHash(session.keyHash, c.env, Date.now())
  if (!principal) return showSignIn(c, appRequest, newSession(null, Date.now()), "Sign in again.")
  const { code } = await approve(c, appRequest.request, principal)
  // The approval ends the session: the next app needs a new sign-in.
  return redirect(c, callbackOf(appRequest, { code }), newSession(null, Date.now()))
})

authPage.onError((thrown, c) => {
  const error = asGatewayError(thrown)
  if (error.code === "internal") logError(error.message, { requestId: c.var.requestId }, error.cause)
  return showPage(c, error.status, (nonce) => errorPage(nonce, error.message))
})

type AppRequest = { request: CodeRequest; query: string }

/** OAuth libraries compare `state` with the one they sent. One in the callback URL itself is returned with it. */
function callbackOf({ request, query }: AppRequest, parameters: Readonly<Record<string, string>>): string {
  const { callback_url: callbackUrl } = request
  const state = new URLSearchParams(query).get("state")
  const isKept = state === null || new URL(callbackUrl).searchParams.has("state")
  return withParameters(callbackUrl, isKept ? parameters : { ...parameters, state })
}

function queryOf(c: Context<App>): string {
  return new URL(c.req.url).search.slice(1)
}

function masterOf(c: Context<App>): string {
  return c.env.MASTER_KEY ?? ""
}

async function sessionOf(c: Context<App>): Promise<Session | undefined> {
  const value = getCookie(c, hostCookieName(COOKIE, c.req.url))
  return value === undefined ? undefined : readCookie(value, masterOf(c), Date.now())
}

async function keepSession(c: Context<App>, session: Session): Promise<void> {
  setCookie(c, hostCookieName(COOKIE, c.req.url), await toCookie(session, masterOf(c)), {
    // The prefix `__Host-` requires this path.
    path: "/",
    httpOnly: true,
    sameSite: "Lax",
    maxAge: Math.max(0, Math.floor((session.expiresAt - Date.now()) / 1_000)),
    secure: isSecure(c.req.url),
  })
}

async function signIn(c: Context<App>, appRequest: AppRequest, session: Session, apiKey: string): Promise<Response> {
  const ip = clientIpOf(c.req.raw, c.env)
  const principal = apiKey === "" ? undefined : await principalByHash(hashKey(apiKey), c.env, Date.now(), ip)
  const fault = principal ? approverError(principal) : "This API key is not valid."
  if (!principal || fault !== undefined) return showSignIn(c, appRequest, session, fault)
  // A new session id with the new rights, against session fixation.
  return redirect(c, `/auth?${appRequest.query}`, newSession(principal.keyHash, Date.now()))
}

async function redirect(c: Context<App>, to: string, session: Session): Promise<Response> {
  await keepSession(c, session)
  return c.body(null, 303, { location: to, "cache-control": "no-store", "referrer-policy": "no-referrer" })
}

async function showSignIn(c: Context<App>, { request, query }: AppRequest, session: Session, fault?: string) {
  await keepSession(c, session)
  const token = await formToken({ session, purpose: "sign_in", query }, masterOf(c))
  const app = new URL(request.callback_url).host
  return showPage(c, fault === undefined ? 200 : 401, (nonce) => signInPage({ app, query, token, nonce }, fault))
}

async function showConsent(c: Context<App>, { request, query }: AppRequest, session: Session, principal: Principal) {
  const workspaceId = request.workspace_id ?? principal.workspaceId
  const isOpen = workspaceId === principal.workspaceId || principal.kind === "management"
  const workspace = isOpen ? await findWorkspaceRow(c.env.DB, principal.organizationId, workspaceId) : undefined
  if (!workspace) throw new GatewayError("not_found", "There is no workspace with this workspace_id.")
  await keepSession(c, session)
  const token = await formToken({ session, purpose: "decide", query }, masterOf(c))
  const { host: app, href: callbackUrl } = new URL(request.callback_url)
  const { label: signedInAs } = principal
  const keyName = request.key_label ?? app
  const facts = describeKey(request, principal)
  const hasChallenge = request.code_challenge !== undefined
  const consent = {
    workspace: workspace.name,
    signedInAs,
    keyName,
    callbackUrl,
    facts,
    hasChallenge,
  }
  return showPage(c, 200, (nonce) => consentPage({ app, query, token, nonce, ...consent }), {
    formTargets: "http: https:",
  })
}
