import { parseJson } from "../support/text/json.ts"
import * as z from "zod"
import { GatewayError } from "../errors/errors.ts"
import { configOf } from "../config/config.ts"
import type { Env } from "../config/env.ts"
import { uuidParam } from "../http/schema.ts"

const NAME = "OAUTH_TRUSTED_ISSUERS"
const MAX_SECONDS = 900

const text = z.string({ error: "must be a string" }).min(1, "must not be empty")
export const Jwk = z.looseObject({ kty: text, kid: text.exactOptional() })

const PolicyShape = z
  .strictObject({
    id: text,
    issuer: text,
    audience: text,
    subject: text,
    jwks: z.object({ keys: z.array(Jwk).min(1, "must not be empty") }).optional(),
    jwks_uri: z.url({ protocol: /^https$/, error: "must be an https URL" }).optional(),
    organization_id: uuidParam("an organization"),
    workspace_id: uuidParam("a workspace"),
    user_id: text.optional(),
    ttl_seconds: z
      .int()
      .min(60, "must be from 60 to 900")
      .max(MAX_SECONDS, "must be from 60 to 900")
      .default(MAX_SECONDS),
  })
  .refine(({ jwks, jwks_uri: uri }) => (jwks === undefined) !== (uri === undefined), {
    error: "needs one of jwks and jwks_uri",
  })

/**
 * Which tokens can be exchanged for a key of which workspace. `subject` is a pattern, in which `*` matches anything.
 */
export type Policy = z.infer<typeof PolicyShape>

const cache = new WeakMap<Env, ReadonlyMap<string, Policy>>()

/** The operator's policies by id. Throws if the configuration is invalid. */
export function trustedIssuers(env: Env): ReadonlyMap<string, Policy> {
  const cached = cache.get(env)
  if (cached) return cached
  const parsed = z.array(PolicyShape).safeParse(parseJson(configOf(env)[NAME]))
  if (!parsed.success) {
    const { path = [], message = "is not valid" } = parsed.error.issues[0] ?? {}
    const where = path.map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`)).join("")
    throw new GatewayError("misconfigured", `${NAME}${where}: ${message}.`)
  }
  const policies = new Map(parsed.data.map((policy) => [policy.id, policy]))
  cache.set(env, policies)
  return policies
}
