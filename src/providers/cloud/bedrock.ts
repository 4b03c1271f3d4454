import { AwsV4Signer } from "aws4fetch"
import type { Provider } from "../provider.ts"
import { type Cloud, CredentialError } from "./cloud.ts"
import { type AwsCredential, parseAwsCredential } from "./credentials.ts"

/** Amazon Bedrock: an API key as a bearer token, or requests signed with an access key (Signature Version 4). */

type Bedrock = Extract<Cloud, { kind: "bedrock" }>

/** `*` is the region, which a BYOK credential may contain. */
export const BEDROCK_BASE_URL = "https://bedrock-runtime.*.amazonaws.com"

export type BedrockAccess = { credential: AwsCredential; origin: string; region: string }

/** Endpoint and credential for Bedrock. Throws a CredentialError. */
export function bedrockAccess({ apiKey = "", baseUrl, regions }: Provider, cloud: Bedrock): BedrockAccess {
  const credential = parseAwsCredential(apiKey)
  const bedrockRegion = cloud.region ?? /bedrock-runtime\.([a-z0-9-]+)\./.exec(baseUrl)?.[1]
  const region = credential.region ?? bedrockRegion
  if (region === undefined) throw new CredentialError("region is missing, and so is AWS_REGION")
  if (regions && region !== bedrockRegion) throw new CredentialError("region differs from the one in PROVIDER_REGIONS")
  return { credential, origin: baseUrl.replace("*", region), region }
}

/** The API that lists models has a separate host. */
export function catalogueOrigin({ origin }: BedrockAccess): string {
  return new URL(origin.replace("//bedrock-runtime.", "//bedrock.")).origin
}

type Signed = { method: string; url: string; body?: string }

/** The authorization headers. */
export async function bedrockHeaders(
  { credential, region }: BedrockAccess,
  { method, url, body }: Signed,
): Promise<Record<string, string>> {
  if ("apiKey" in credential) return { authorization: `Bearer ${credential.apiKey}` }
  const { accessKeyId, secretAccessKey, sessionToken } = credential
  // Signs only the host and the headers of the signature: the network may rewrite others.
  const signer = new AwsV4Signer({
    method,
    url,
    ...(body !== undefined && { body }),
    accessKeyId,
    secretAccessKey,
    ...(sessionToken !== undefined && { sessionToken }),
    service: "bedrock",
    region,
  })
  const { headers } = await signer.sign()
  // The runtime sets the signed host header itself.
  headers.delete("host")
  return Object.fromEntries(headers)
}
