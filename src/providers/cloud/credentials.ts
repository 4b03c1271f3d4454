import * as z from "zod"
import { isObject, parseJson } from "../../support/text/json.ts"
import { CredentialError } from "./cloud.ts"

/** Parses credentials of clouds, from a variable or from a BYOK credential. */

/** A region or location from a tenant, which becomes part of a hostname. */
const REGION = /^[a-z0-9](?:[a-z0-9-]{0,40}[a-z0-9])?$/
const REGION_RULE = "must be lower-case letters, digits and hyphens, such as us-east-1"

const regionName = z.string({ error: REGION_RULE }).regex(REGION, { error: REGION_RULE }).optional()
const text = (name: string) => z.string({ error: `${name} is missing` }).min(1, { error: `${name} is missing` })

const ServiceAccount = z.object({
  client_email: text("client_email"),
  private_key: text("private_key"),
  private_key_id: z.string().optional(),
  project_id: z
    .string()
    .regex(/^[a-z0-9.:-]{1,100}$/, { error: "project_id is not a valid project id" })
    .optional(),
  /** Location of the models. Not a field of Google's key. */
  region: regionName,
})

export type ServiceAccount = z.infer<typeof ServiceAccount>

/** A service account key as downloaded from the console: JSON, also in base64. Throws a CredentialError. */
export function parseServiceAccount(credential: string): ServiceAccount {
  const parsed = ServiceAccount.safeParse(jsonOf(credential) ?? jsonOf(fromBase64(credential)))
  if (parsed.success) return parsed.data
  throw new CredentialError(`must be the JSON of a service account key${describeIssues(parsed.error)}`)
}

const AccessKey = z.object({
  accessKeyId: text("accessKeyId"),
  secretAccessKey: text("secretAccessKey"),
  sessionToken: z.string().optional(),
  region: regionName,
})

export type AwsCredential = { apiKey: string; region?: undefined } | z.infer<typeof AccessKey>

/** A Bedrock API key, or an access key as JSON. Throws a CredentialError. */
export function parseAwsCredential(credential: string): AwsCredential {
  if (!credential.trimStart().startsWith("{")) return { apiKey: credential.trim() }
  const parsed = AccessKey.safeParse(jsonOf(credential))
  if (parsed.success) return parsed.data
  const rule = "must be an API key, or JSON with accessKeyId, secretAccessKey and region"
  throw new CredentialError(`${rule}${describeIssues(parsed.error)}`)
}

/** Whether the value of a variable is a valid region or location. */
export function isRegionName(value: string): boolean {
  return REGION.test(value)
}

const MIN_SECRET = 12

/** Secret strings of a credential, which no message may contain. */
export function secretsIn(credential: string): string[] {
  const json = jsonOf(credential) ?? jsonOf(fromBase64(credential))
  const inside = json === undefined ? [] : Object.values(json)
  return inside.filter((value): value is string => typeof value === "string" && value.length >= MIN_SECRET)
}

function jsonOf(credential: string): Record<string, unknown> | undefined {
  const parsed = credential.trimStart().startsWith("{") ? parseJson(credential) : undefined
  return isObject(parsed) ? parsed : undefined
}

function fromBase64(credential: string): string {
  try {
    return atob(credential.trim())
  } catch {
    return ""
  }
}

function describeIssues({ issues }: z.ZodError): string {
  const [issue] = issues
  if (!issue || issue.path.length === 0) return ""
  const name = String(issue.path[0])
  return issue.message.startsWith(name) ? `: ${issue.message}` : `: ${name} ${issue.message}`
}
