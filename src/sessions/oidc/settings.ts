import { configOf } from "../../config/config.ts"
import type { Env } from "../../config/env.ts"
import { GatewayError } from "../../errors/errors.ts"

/** Configuration of the deployment's identity provider. */
export type OidcSettings = {
  issuer: string
  clientId: string
  /** Undefined for a public client, which is protected only by PKCE. */
  clientSecret: string | undefined
  /** Shown on the sign-in button. */
  name: string
  acceptsUnverifiedEmail: boolean
}

/** Undefined if people sign in only with keys. Throws if only some of the variables are set. */
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
