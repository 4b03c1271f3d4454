import { createRoute } from "@hono/zod-openapi"
import type { Context } from "hono"
import { hashKey, toLabel } from "../access/key.ts"
import { originOf } from "../audit/actor.ts"
import { newEntry } from "../audit/entry.ts"
import { asGatewayError } from "../errors/errors.ts"
import { newRouter } from "../http/router.ts"
import type { App } from "../access/app.ts"
import { ok } from "../http/schema.ts"
import type { NewKeyRow } from "../keys/table.ts"
import { masterKeysOf } from "../secrets/master-key.ts"
import { readAtMost } from "../support/bytes.ts"
import { logError } from "../support/log.ts"
import { newId } from "../support/ids.ts"
import { issuerKeys, refreshedKeys } from "./issuer-keys.ts"
import { type Policy, trustedIssuers } from "./policies.ts"
import { Token, TokenError } from "./schemas.ts"
import { signToken } from "./signing-key.ts"
import { insertToken } from "./store.ts"
import { subjectOf, type Verification } from "./subject-token.ts"

const MAX_FORM_BYTES = 65_536
const GRANT = "urn:ietf:params:oauth:grant-type:token-exchange"
const JWT = "urn:ietf:params:oauth:token-type:jwt"
const ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"
const SCOPE = "inference"

const REQUIRED = ["grant_type", "federation_policy_id", "subject_token", "subject_token_type"]
const OPTIONAL = ["requested_token_type", "scope"]

type Reason =
  | "invalid_request"
  | "invalid_grant"
  | "unsupported_grant_type"
  | "invalid_scope"
  | "server_error"
  | "temporarily_unavailable"
type TokenFailure = { error: Reason; error_description: string }

const exchange = createRoute({
  method: "post",
  path: "/oauth/token",
  operationId: "createOauthToken",
  tags: ["OAuth"],
  summary: "Exchange a token for a short-lived key",
  description:
    "The body is a form: `grant_type`, `subject_token`, `subject_token_type`, `federation_policy_id`, and optionally `requested_token_type` and `scope`.",
  security: [],
  responses: {
    200: ok(Token),
    400: ok(TokenError, "invalid request, grant, grant type or scope"),
    500: ok(TokenError, "something went wrong inside the gateway"),
    503: ok(TokenError, "the issuer's keys are temporarily unavailable"),
  },
})

/** Without authentication. Errors have the OAuth format, not the envelope. */
export const oauthTokens = newRouter().openapi(exchange, async (c) => {
  const form = await readForm(c)
  const rejection = form ? formError(form) : tokenFailure("invalid_request", "Send a form of at most 64 KiB.")
  if (!form || rejection) return c.json(rejection ?? tokenFailure("invalid_request", "Send a form."), 400)
  const policy = trustedIssuers(c.env).get(form.get("federation_policy_id") ?? "")
  if (!policy) return c.json(NOT_TRUSTED, 400)
  const now = Date.now()
  const keys = await issuerKeys(policy, now)
  if (!keys)
    return c.json(tokenFailure("temporarily_unavailable", "The issuer's keys are temporarily unavailable. Retry."), 503)
  const verification = { token: form.get("subject_token") ?? "", policy, keys, now }
  const subject = (await subjectOf(verification)) ?? (await subjectAfterRotation(verification))
  const token = subject === undefined ? undefined : await issue(c, policy, subject, now)
  if (token === undefined) return c.json(NOT_TRUSTED, 400)
  const result = { issued_token_type: ACCESS_TOKEN, scope: SCOPE, token_type: "Bearer" } as const
  return c.json({ access_token: token, expires_in: policy.ttl_seconds, ...result }, 200)
})

async function subjectAfterRotation(verification: Verification): Promise<string | undefined> {
  const keys = await refreshedKeys(verification.policy, verification.now)
  return keys && subjectOf({ ...verification, keys })
}

oauthTokens.onError((thrown, c) => {
  const { status, message, code, cause } = asGatewayError(thrown)
  logError(message, { requestId: c.var.requestId, code }, cause)
  if (status === 503) return c.json(tokenFailure("temporarily_unavailable", message), 503)
  return c.json(tokenFailure("server_error", message), 500)
})

/** One response for an unknown policy and every fault of a token, so that probing reveals nothing. */
const NOT_TRUSTED: TokenFailure = {
  error: "invalid_grant",
  error_description: "This subject_token is not trusted under this federation_policy_id.",
}

function tokenFailure(error: Reason, description: string): TokenFailure {
  return { error, error_description: description }
}

async function readForm(c: Context<App>): Promise<URLSearchParams | undefined> {
  const type = c.req.header("content-type") ?? ""
  const { body } = c.req.raw
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type) || !body) return undefined
  const bytes = await readAtMost(body, MAX_FORM_BYTES)
  return bytes && new URLSearchParams(new TextDecoder().decode(bytes))
}

function formError(form: URLSearchParams): TokenFailure | undefined {
  const grant = form.get("grant_type")
  if (grant && grant !== GRANT) {
    const forApps = grant === "authorization_code" ? " The code of an app is exchanged at POST /auth/keys." : ""
    return tokenFailure("unsupported_grant_type", `grant_type: accepts ${GRANT}.${forApps}`)
  }
  for (const name of REQUIRED) if (!form.get(name)) return tokenFailure("invalid_request", `${name}: is required.`)
  const twice = [...REQUIRED, ...OPTIONAL].find((name) => form.getAll(name).length > 1)
  if (twice) return tokenFailure("invalid_request", `${twice}: is given twice.`)
  if (form.get("subject_token_type") !== JWT) {
    return tokenFailure("invalid_request", `subject_token_type: accepts ${JWT}.`)
  }
  // An empty parameter counts as omitted (RFC 6749, section 3.2).
  if (![ACCESS_TOKEN, ""].includes(form.get("requested_token_type") ?? "")) {
    return tokenFailure("invalid_request", `requested_token_type: accepts ${ACCESS_TOKEN}.`)
  }
  return [SCOPE, ""].includes(form.get("scope") ?? "")
    ? undefined
    : tokenFailure("invalid_scope", `scope: accepts ${SCOPE}.`)
}

/**
 * Issues a key that is also a signed token. Clients can verify it; the gateway looks it up by its hash, like any key.
 */
async function issue(c: Context<App>, policy: Policy, subject: string, now: number): Promise<string | undefined> {
  const { organization_id: organizationId, workspace_id: workspaceId, ttl_seconds: seconds, id: policyId } = policy
  const issuedAt = Math.floor(now / 1_000)
  const claims = {
    iss: new URL(c.req.url).origin,
    sub: subject,
    aud: new URL(c.req.url).origin,
    scope: SCOPE,
    iat: issuedAt,
    exp: issuedAt + seconds,
    jti: newId(),
  }
  const token = await signToken(masterKeysOf(c.env), claims)
  const key: NewKeyRow = {
    hash: hashKey(token),
    organizationId,
    workspaceId,
    kind: "normal",
    name: `${policyId}: ${subject}`.slice(0, 128),
    label: toLabel(token),
    creatorUserId: policy.user_id ?? null,
    expiresAt: claims.exp * 1_000,
    createdAt: now,
    source: "workload",
  }
  const actor = {
    organizationId,
    keyHash: "",
    label: `policy ${policyId}`,
    creatorUserId: policy.user_id ?? null,
    ...originOf(c),
    at: now,
  }
  const changed = { fields: ["policy", "subject"], values: { policy: policyId, subject } }
  const entry = newEntry(actor, { action: "api_key.create", resourceId: key.hash, workspaceId, changed })
  return (await insertToken(c.env.DB, key, { policyId, subject }, entry)) ? token : undefined
}
