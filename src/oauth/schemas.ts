import * as z from "zod"
import { nameText, uuidParam } from "../http/schema.ts"
import { firstValues } from "../http/validate.ts"
import { isNanoPrecise, NANO_PRECISE } from "../money/money.ts"
import { LimitReset } from "../keys/schemas.ts"
import { isCallback } from "./callback.ts"

const CALLBACK_RULE = "must be an https URL, or an http one on localhost, without credentials and without a fragment"
const MAX_URL_LENGTH = 2_048
const MAX_LIMIT_USD = 1_000_000
const limitRule = `must be a number of USD from 0 to ${MAX_LIMIT_USD}`

/** The key that an app requests, in the query of the page or in a body. */
export const CodeRequest = z
  .strictObject({
    callback_url: z
      .string({ error: `is required and ${CALLBACK_RULE}` })
      .max(MAX_URL_LENGTH, `must be at most ${MAX_URL_LENGTH} characters`)
      .refine(isCallback, CALLBACK_RULE),
    code_challenge: z
      .string()
      .regex(/^[\w.~-]{43,128}$/, "must be 43 to 128 letters, digits and . _ ~ -")
      .optional()
      .meta({ description: "With S256: the SHA-256 of the verifier in base64url." }),
    code_challenge_method: z.enum(["S256", "plain"], { error: 'accepts "S256" or "plain"' }).optional(),
    expires_at: z.iso
      .datetime({ offset: true, error: "must be an ISO 8601 date-time with seconds and Z" })
      .nullish()
      .meta({ description: "When the key expires." }),
    key_label: nameText(128).optional(),
    limit: z
      .number({ error: limitRule })
      .min(0, limitRule)
      .max(MAX_LIMIT_USD, limitRule)
      .refine(isNanoPrecise, NANO_PRECISE)
      .optional(),
    usage_limit_type: LimitReset.optional(),
    workspace_id: uuidParam("a workspace").optional(),
  })
  .superRefine((request, context) => {
    const { code_challenge: challenge, code_challenge_method: method } = request
    if ((challenge === undefined) !== (method === undefined)) {
      const message = "goes with code_challenge_method: send both, or neither"
      context.addIssue({ code: "custom", path: ["code_challenge"], message })
    }
    if (method === "S256" && challenge !== undefined && !/^[\w-]{43}$/.test(challenge)) {
      const message = "must be a SHA-256 in base64url without padding, 43 characters, if the method is S256"
      context.addIssue({ code: "custom", path: ["code_challenge"], message })
    }
  })
  .meta({ id: "AuthorizationCodeRequest" })
export type CodeRequest = z.infer<typeof CodeRequest>

/** The query of the authorization page. Parameters of other flows, which some apps send, are ignored. */
export const AuthQuery = z.preprocess((query) => {
  const parameters = Object.entries(firstValues(query)).filter(([name]) => Object.hasOwn(CodeRequest.shape, name))
  return Object.fromEntries(
    parameters.map(([name, value]) => [name, name === "limit" && value !== "" ? Number(value) : value]),
  )
}, CodeRequest)

const token = z.string().default("")

/** The forms of the authorization page. */
export const AuthForm = z.preprocess(
  firstValues,
  z.discriminatedUnion("action", [
    z.object({ action: z.literal("sign_in"), token, api_key: z.string().trim().default("") }),
    z.object({ action: z.literal(["approve", "deny", "sign_out"]), token }),
  ]),
)

export const Code = z
  .object({
    id: z.string().meta({ description: "The code, for one exchange within ten minutes." }),
    app_id: z.int(),
    created_at: z.iso.datetime(),
  })
  .meta({ id: "AuthorizationCode" })

export const Exchange = z
  .strictObject({
    code: z
      .string({ error: "is required: the code of the redirect" })
      .min(1, "must not be empty")
      .max(256, "must be at most 256 characters"),
    code_challenge_method: z.enum(["S256", "plain"], { error: 'accepts "S256", "plain" or null' }).nullish(),
    code_verifier: z
      .string()
      .regex(/^[\w.~-]{43,128}$/, "must be 43 to 128 letters, digits and . _ ~ -")
      .nullish(),
  })
  .meta({ id: "CodeExchange" })
export type Exchange = z.infer<typeof Exchange>

export const ExchangedKey = z.object({ key: z.string(), user_id: z.string().nullable() }).meta({ id: "ExchangedKey" })

export const TokenError = z
  .object({
    error: z.enum([
      "invalid_request",
      "invalid_grant",
      "unsupported_grant_type",
      "invalid_scope",
      "server_error",
      "temporarily_unavailable",
    ]),
    error_description: z.string(),
  })
  .meta({ id: "TokenError" })

export const Token = z
  .object({
    access_token: z.string(),
    expires_in: z.int().meta({ description: "Seconds" }),
    issued_token_type: z.literal("urn:ietf:params:oauth:token-type:access_token"),
    scope: z.string(),
    token_type: z.literal("Bearer"),
  })
  .meta({ id: "Token" })

export const Jwks = z
  .object({
    keys: z.array(
      z.object({
        alg: z.literal("ES256"),
        crv: z.literal("P-256"),
        kid: z.string(),
        kty: z.literal("EC"),
        use: z.literal("sig"),
        x: z.string(),
        y: z.string(),
      }),
    ),
  })
  .meta({ id: "Jwks" })
