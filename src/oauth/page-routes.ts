import { type Context, Hono } from "hono"
import { principalByHash } from "../policy/authenticate.ts"
import type { Principal } from "../access/principal.ts"
import { hashKey } from "../access/key.ts"
import { asGatewayError, GatewayError } from "../errors/errors.ts"
import { explain } from "../http/schema.ts"
import type { App } from "../access/app.ts"
import { logError } from "../support/log.ts"
import { readAtMost } from "../support/bytes.ts"
import { findWorkspaceRow } from "../workspaces/store.ts"
import { withAnswer } from "./callback.ts"
import { approverFault, describeKey } from "./code.ts"
import { consentPage, faultPage, signInPage } from "./page.ts"
import { approve } from "./routes.ts"
import { CodeRequest } from "./schemas.ts"
import { formToken, isFormToken, newSession, readCookie, type Session, toCookie } from "./session.ts"

/** Where a person lets an app have a key: at the origin, as clients of this interface family expect it. */
export const authPage = new Hono<App>()

const COOKIE = "gateway_auth"
const MAX_FORM_BYTES = 65_536

authPage.get("/", async (c) => {
  const asked = readRequest(c)
  const session = (await sessionOf(c)) ?? newSession(null, Date.now())
  const principal = session.keyHash === null ? undefined : await principalByHash(session.keyHash, c.env, Date.now())
  const fault = principal && approverFault(principal)
  return principal && fault === undefined
    ? showConsent(c, asked, session, principal)
    : showSignIn(c, asked, session, fault)
})

authPage.post("/", async (c) => {
  const asked = readRequest(c)
  const form = await readForm(c)
  const [deed, session] = [form.get("deed") ?? "", await sessionOf(c)]
  const isSigningIn = deed === "sign_in"
  const token = form.get("token") ?? ""
  const kind = isSigningIn ? "sign_in" : "decide"
  if (!session || !(await isFormToken(token, session, kind, asked.query, masterOf(c)))) {
    throw new GatewayError("forbidden", "This page was open for too long, or was not opened here. Go back to the app.")
  }
  if (isSigningIn) return signIn(c, asked, session, form.get("api_key")?.trim() ?? "")
  if (deed === "sign_out") return leave(c, `/auth?${asked.query}`, newSession(null, Date.now()))
  if (deed === "deny") return leave(c, withAnswer(asked.request.callback_url, { error: "access_denied" }), session)
  const principal = session.keyHash === null ? undefined : await principalByHash(session.keyHash, c.env, Date.now())
  if (!principal) return showSignIn(c, asked, newSession(null, Date.now()), "Sign in once more.")
  const { code } = await approve(c, asked.request, principal)
  // Signed out with it: the next app asks anew.
  return leave(c, withAnswer(asked.request.callback_url, { code }), newSession(null, Date.now()))
})

authPage.onError((thrown, c) => {
  const error = asGatewayError(thrown)
  if (error.code === "internal") logError(error.message, { requestId: c.var.requestId }, error.cause)
  return show(c, error.status, (nonce) => faultPage(nonce, error.message))
})

type Asked = { request: CodeRequest; query: string }

/** What the app asks for. Parameters of other flows, which apps send by habit, are passed over. */
function readRequest(c: Context<App>): Asked {
  const url = new URL(c.req.url)
  const known = Object.entries(c.req.query()).filter(([name]) => Object.hasOwn(CodeRequest.shape, name))
  const fields = known.map(([name, value]) => [name, name === "limit" && value !== "" ? Number(value) : value])
  const parsed = CodeRequest.safeParse(Object.fromEntries(fields))
  if (!parsed.success) throw new GatewayError("invalid_request", explain(parsed.error))
  return { request: parsed.data, query: url.search.slice(1) }
}

async function readForm(c: Context<App>): Promise<URLSearchParams> {
  const { body } = c.req.raw
  const type = c.req.header("content-type") ?? ""
  const bytes = body && type.startsWith("application/x-www-form-urlencoded") && (await readAtMost(body, MAX_FORM_BYTES))
  if (!bytes) throw new GatewayError("invalid_request", "Invalid form submission. Reload the page and try again.")
  return new URLSearchParams(new TextDecoder().decode(bytes))
}

function masterOf(c: Context<App>): string {
  return c.env.MASTER_KEY ?? ""
}

async function sessionOf(c: Context<App>): Promise<Session | undefined> {
  const cookies = (c.req.header("cookie") ?? "").split(/;\s*/).map((one) => one.split("="))
  const [, value] = cookies.find(([name]) => name === COOKIE) ?? []
  return value === undefined ? undefined : readCookie(value, masterOf(c), Date.now())
}

async function keepSession(c: Context<App>, session: Session): Promise<void> {
  const seconds = Math.max(0, Math.floor((session.expiresAt - Date.now()) / 1_000))
  const secure = new URL(c.req.url).protocol === "https:" ? "; Secure" : ""
  const value = await toCookie(session, masterOf(c))
  c.header("set-cookie", `${COOKIE}=${value}; Path=/auth; HttpOnly; SameSite=Lax; Max-Age=${seconds}${secure}`)
}

async function signIn(c: Context<App>, asked: Asked, session: Session, apiKey: string): Promise<Response> {
  const principal = apiKey === "" ? undefined : await principalByHash(hashKey(apiKey), c.env, Date.now())
  const fault = principal ? approverFault(principal) : "This API key is not valid."
  if (!principal || fault !== undefined) return showSignIn(c, asked, session, fault)
  // A new id with the new rights: who knew the old one knows nothing of this one.
  return leave(c, `/auth?${asked.query}`, newSession(principal.keyHash, Date.now()))
}

async function leave(c: Context<App>, to: string, session: Session): Promise<Response> {
  await keepSession(c, session)
  return c.body(null, 303, { location: to, "cache-control": "no-store", "referrer-policy": "no-referrer" })
}

async function showSignIn(c: Context<App>, { request, query }: Asked, session: Session, fault?: string) {
  await keepSession(c, session)
  const token = await formToken(session, "sign_in", query, masterOf(c))
  const app = new URL(request.callback_url).host
  return show(c, fault === undefined ? 200 : 401, (nonce) => signInPage({ app, query, token, nonce }, fault))
}

async function showConsent(c: Context<App>, { request, query }: Asked, session: Session, principal: Principal) {
  const workspaceId = request.workspace_id ?? principal.workspaceId
  const isOpen = workspaceId === principal.workspaceId || principal.kind === "management"
  const workspace = isOpen ? await findWorkspaceRow(c.env.DB, principal.organizationId, workspaceId) : undefined
  if (!workspace) throw new GatewayError("not_found", "There is no workspace with this workspace_id.")
  await keepSession(c, session)
  const token = await formToken(session, "decide", query, masterOf(c))
  const { host: app } = new URL(request.callback_url)
  const { label: signedInAs } = principal
  const keyName = request.key_label ?? app
  const facts = describeKey(request, principal)
  const told = { workspace: workspace.name, signedInAs, keyName, callbackUrl: request.callback_url, facts }
  return show(c, 200, (nonce) => consentPage({ app, query, token, nonce, ...told }), "http: https:")
}

/**
 * Nothing but the page itself: no script, no frame around it, and forms that go here. `beyond`: where they are redirected
 * to. Browsers hold every further redirect of the app to that as well, and the policy has no words for `[::1]`.
 */
function show(c: Context<App>, status: number, page: (nonce: string) => string, beyond = ""): Response {
  const nonce = crypto.randomUUID().replaceAll("-", "")
  const policy = `default-src 'none'; style-src 'nonce-${nonce}'; form-action 'self' ${beyond}; frame-ancestors 'none'; base-uri 'none'`
  return c.body(page(nonce), status as 200, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policy,
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cache-control": "no-store",
  })
}
