import { credential } from "../../config/config.ts"
import type { Env } from "../../config/env.ts"
import { GatewayError } from "../../errors/errors.ts"
import type { Provider } from "../provider.ts"
import type { BuiltInProvider } from "../built-in.ts"
import { BEDROCK_BASE_URL } from "./bedrock.ts"
import { ACCESS_KEY, BEDROCK_REGIONS, CredentialError, TOKEN_URL, VERTEX_LOCATIONS, VERTEX_PROJECTS } from "./cloud.ts"
import { isRegionName, parseAwsCredential, parseServiceAccount } from "./credentials.ts"
import { GOOGLE_TOKEN_URL } from "./google-token.ts"
import { VERTEX_BASE_URL } from "./vertex.ts"

/** Variables of clouds, which are read differently from those of other providers. */

/** Base URL and settings of a cloud, with or without a gateway key. */
export function cloudFields(
  { cloud }: BuiltInProvider,
  env: Env,
  ownBaseUrl: string | undefined,
): Pick<Provider, "baseUrl" | "cloud" | "format"> {
  if (cloud === "vertex") {
    const project = firstOf(env, VERTEX_PROJECTS)
    const location = regionIn(env, VERTEX_LOCATIONS)
    const tokenUrl = credential(env, TOKEN_URL) ?? GOOGLE_TOKEN_URL
    if (!/^https?:$/.test(URL.parse(tokenUrl)?.protocol ?? "")) {
      throw new GatewayError("misconfigured", `${TOKEN_URL}: must be an http or https URL.`)
    }
    const fields = { project, location, tokenUrl }
    return { baseUrl: ownBaseUrl ?? VERTEX_BASE_URL, format: "openai", cloud: { kind: "vertex", ...fields } }
  }
  const region = regionIn(env, BEDROCK_REGIONS)
  const baseUrl = ownBaseUrl ?? BEDROCK_BASE_URL.replace("*", region ?? "*")
  // Bedrock also supports the OpenAI format at a separate URL.
  const format = baseUrl.endsWith("/openai/v1") ? "openai" : "converse"
  return { baseUrl, format, cloud: { kind: "bedrock", region } }
}

/** The keys of a cloud: its API keys if there are any, otherwise the credential. Throws if it is invalid. */
export function cloudKeys({ cloud, secret, aliases, name }: BuiltInProvider, env: Env, apiKeys: string[]): string[] {
  if (cloud === "vertex") {
    const variable = [secret, ...aliases].find((one) => credential(env, one) !== undefined)
    if (variable === undefined) return []
    const credentialText = credential(env, variable) ?? ""
    requireUsable(variable, () => parseServiceAccount(credentialText))
    return [credentialText]
  }
  if (apiKeys.length > 0) return apiKeys
  const [id, secretKey, token] = ACCESS_KEY.map((variable) => credential(env, variable))
  if (id === undefined && secretKey === undefined) return []
  if (id === undefined || secretKey === undefined) {
    throw new GatewayError("misconfigured", `AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of ${name} must both be set.`)
  }
  const credentialText = JSON.stringify({ accessKeyId: id, secretAccessKey: secretKey, sessionToken: token })
  requireUsable("AWS_ACCESS_KEY_ID", () => parseAwsCredential(credentialText))
  return [credentialText]
}

function requireUsable(variable: string, parse: () => unknown): void {
  try {
    parse()
  } catch (thrown) {
    if (!(thrown instanceof CredentialError)) throw thrown
    throw new GatewayError("misconfigured", `${variable}: ${thrown.message}.`)
  }
}

function regionIn(env: Env, names: readonly string[]): string | undefined {
  const value = firstOf(env, names)
  if (value === undefined || isRegionName(value)) return value
  throw new GatewayError("misconfigured", `${names[0]}: must be the name of a region, such as us-east-1.`)
}

function firstOf(env: Env, names: readonly string[]): string | undefined {
  return names.map((name) => credential(env, name)).find((value) => value !== undefined)
}
