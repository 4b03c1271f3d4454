import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from "jose"
import { caseSensitiveMatcher } from "../support/text/wildcard.ts"
import type { Policy } from "./policies.ts"

/** Public-key signatures only: everyone who can verify a symmetric signature can also create one. */
const ALGORITHMS = ["RS256", "ES256"]
const CLOCK_SKEW_SECONDS = 60
const MAX_TOKEN_LENGTH = 16_384

export type Verification = { token: string; policy: Policy; keys: JSONWebKeySet; now: number }

/** The subject of a token (RFC 7519) that the policy trusts at `now` (epoch milliseconds); undefined for all others. */
export async function subjectOf(verification: Verification): Promise<string | undefined> {
  const { token, policy, now } = verification
  const claims = token.length > MAX_TOKEN_LENGTH ? undefined : await claimsOf(verification)
  const { sub, iat } = claims ?? {}
  if (iat !== undefined && iat > now / 1_000 + CLOCK_SKEW_SECONDS) return undefined
  return typeof sub === "string" && caseSensitiveMatcher([policy.subject])(sub) ? sub : undefined
}

async function claimsOf({ token, policy, keys, now }: Verification): Promise<JWTPayload | undefined> {
  const options = {
    algorithms: ALGORITHMS,
    issuer: policy.issuer,
    audience: policy.audience,
    requiredClaims: ["exp"],
    clockTolerance: CLOCK_SKEW_SECONDS,
    currentDate: new Date(now),
  }
  try {
    return (await jwtVerify(token, createLocalJWKSet(keys), options)).payload
  } catch (error) {
    // A token without a key id may be signed with any key of its type.
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) return undefined
    for await (const key of error) {
      const verified = await jwtVerify(token, key, options).catch(() => undefined)
      if (verified) return verified.payload
    }
    return undefined
  }
}
