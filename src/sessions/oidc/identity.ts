import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from "jose"
import { fetchUserInfo, type Provider, ProviderError, providerKeys } from "./provider.ts"
import { foldEmail } from "../../support/text/email.ts"
import type { OidcSettings } from "./settings.ts"

/** Public-key signatures only: with a shared secret, everyone who has it could sign. */
const ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"]
const CLOCK_SKEW_SECONDS = 60

type Verification = {
  token: string
  accessToken: string | undefined
  provider: Provider
  settings: OidcSettings
  nonce: string
  now: number
}

/** The verified email of the person who signed in at the provider; null if it is missing or not verified. */
export async function emailOf(verification: Verification): Promise<string | null> {
  const claims = await claimsOf(verification)
  const { provider, settings, accessToken } = verification
  let facts: { email?: unknown; email_verified?: unknown } = {
    email: claims["email"],
    email_verified: claims["email_verified"],
  }
  if (facts.email === undefined && provider.userinfo_endpoint !== undefined && accessToken !== undefined) {
    const info = await fetchUserInfo(provider.userinfo_endpoint, accessToken)
    // Another person's access token would return another person's email (Core, section 5.3.2).
    if (info.sub !== claims.sub) throw new ProviderError("The UserInfo response has another subject.")
    facts = info
  }
  const isVerified = facts.email_verified === true || facts.email_verified === "true"
  if (typeof facts.email !== "string" || facts.email === "") return null
  return isVerified || settings.acceptsUnverifiedEmail ? foldEmail(facts.email) : null
}

/** The claims of an ID token for this client and this transaction (OpenID Connect Core, section 3.1.3.7). */
async function claimsOf(verification: Verification): Promise<JWTPayload> {
  const { provider, settings, nonce, now } = verification
  const keys = await providerKeys(provider, now)
  const claims = await verify(verification, keys).catch(async (error: unknown) => {
    // The provider has rotated its keys; some keep the key id.
    const isOutdated =
      error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWSSignatureVerificationFailed
    if (!isOutdated) throw error
    return verify(verification, await providerKeys(provider, now, { isFresh: true }))
  })
  if (claims["nonce"] !== nonce) throw new ProviderError("The ID token is for another sign-in: its nonce differs.")
  const authorized = claims["azp"]
  const isForSeveral = Array.isArray(claims.aud) && claims.aud.length > 1
  if ((isForSeveral || authorized !== undefined) && authorized !== settings.clientId)
    throw new ProviderError("The ID token was issued to another client.")
  return claims
}

async function verify({ token, settings, now }: Verification, keys: JSONWebKeySet): Promise<JWTPayload> {
  const options = {
    algorithms: ALGORITHMS,
    issuer: settings.issuer,
    audience: settings.clientId,
    requiredClaims: ["exp", "iat", "sub"],
    clockTolerance: CLOCK_SKEW_SECONDS,
    currentDate: new Date(now),
  }
  try {
    return (await jwtVerify(token, createLocalJWKSet(keys), options)).payload
  } catch (error) {
    // A token without a key id may be signed with any key of its type.
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    for await (const key of error) {
      const verified = await jwtVerify(token, key, options).catch(() => undefined)
      if (verified) return verified.payload
    }
    throw new errors.JWSSignatureVerificationFailed("No key of the provider verifies the signature of the ID token.")
  }
}
