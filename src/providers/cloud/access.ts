import type { UpstreamRequest } from "../../formats/upstream.ts"
import type { Provider } from "../provider.ts"
import { bedrockAccess, bedrockHeaders, catalogueOrigin } from "./bedrock.ts"
import { accessTokenOf, type TokenDeps } from "./google-token.ts"
import { isVertexClaude, toVertexRequest, vertexAccess } from "./vertex.ts"

/** The provider with the format for one model: Vertex uses a different format for Claude. */
export function servingProvider(provider: Provider, upstreamId: string): Provider {
  if (provider.cloud?.kind !== "vertex" || !isVertexClaude(upstreamId)) return provider
  return { ...provider, format: "anthropic", quirks: {} }
}

/** Adapts the request to the provider's cloud. */
export function toCloudRequest(provider: Provider, request: UpstreamRequest, isStreamed: boolean): UpstreamRequest {
  return provider.cloud?.kind === "vertex" ? toVertexRequest(request, isStreamed) : request
}

export type CloudDeps = Omit<TokenDeps, "tokenUrl">
type Requested = {
  method: "GET" | "POST"
  path: string
  body?: string
  /** Request for the API that lists models, which is separate from the one that calls them. */
  isCatalogue?: true
}

/** URL and authorization headers of a request. Throws a CredentialError. */
export async function cloudAccess(
  provider: Provider,
  { path, isCatalogue, ...request }: Requested,
  deps: CloudDeps,
): Promise<{ url: string; headers: Record<string, string> }> {
  const { cloud } = provider
  if (cloud?.kind === "bedrock") {
    const access = bedrockAccess(provider, cloud)
    const url = (isCatalogue ? catalogueOrigin(access) : access.origin) + path
    return { url, headers: await bedrockHeaders(access, { ...request, url }) }
  }
  if (cloud?.kind === "vertex") {
    const { account, origin, parent } = vertexAccess(provider, cloud)
    const token = await accessTokenOf(account, { ...deps, tokenUrl: cloud.tokenUrl })
    const headers = { authorization: `Bearer ${token}` }
    return { url: origin + (isCatalogue ? "" : parent) + path, headers }
  }
  return { url: provider.baseUrl + path, headers: {} }
}
