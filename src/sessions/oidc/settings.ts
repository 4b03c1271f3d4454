import { configOf } from "../../config/config.ts"
import type { Env } from "../../config/env.ts"
import { GatewayError } from "../../errors/errors.ts"

/** The identity provider of the deployment, as it is configured. */
export type OidcSettings = {
  issuer: string
  clientId: string
  /** Undefined for a public client, which PKCE alone protects. */
  clientSecret: string | undefined
  /** What the button says. */
  name: string
  acceptsUnverifiedEmail: boolean
}

/** Undefined where people sign in with keys only. Throws where only some of the variables are set. */
export function oidcSettings(env: Env): OidcSettings | undefined {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, ...config } = configOf(env)
  if (issuer === undefined && clientId === undefined) return undefined
  if (issuer === undefined || clientId === undefined) {
    const missing = issuer === undefined ? "OIDC_ISSUER" : "OIDC_CLIENT_ID"
    throw new GatewayError("misconfigured", `${missing} must be set: sign-in with OpenID Connect needs both.`)
  }
  return {
    issuer,
    clientId,
    clientSecret: config.OIDC_CLIENT_SECRET,
    name: config.OIDC_NAME ?? new URL(issuer).hostname,
    acceptsUnverifiedEmail: config.OIDC_UNVERIFIED_EMAIL === "accept",
  }
}
