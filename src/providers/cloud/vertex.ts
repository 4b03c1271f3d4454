import type { UpstreamRequest } from "../../formats/upstream.ts"
import type { Provider } from "../provider.ts"
import { type Cloud, CredentialError } from "./cloud.ts"
import { type ServiceAccount, parseServiceAccount } from "./credentials.ts"

/** Google Vertex AI: Claude in the Messages format, other models in the OpenAI format, per project and location. */

type Vertex = Extract<Cloud, { kind: "vertex" }>

export const VERTEX_BASE_URL = "https://aiplatform.googleapis.com"
const GLOBAL = "global"
/** Multi-region locations, whose hostnames have another form. */
const MULTI_REGIONS = ["us", "eu"]
const ANTHROPIC_VERSION = "vertex-2023-10-16"

export function isVertexClaude(upstreamId: string): boolean {
  return /^(?:anthropic\/)?claude-/.test(upstreamId)
}

/** Adapts the request to Vertex: for Claude, the model is in the path and a version in the body. */
export function toVertexRequest(request: UpstreamRequest, isStreamed: boolean): UpstreamRequest {
  const { model, service_tier: _, ...body } = request.body
  if (request.path !== "/messages" || typeof model !== "string") {
    return { ...request, path: `/endpoints/openapi${request.path}` }
  }
  const id = encodeURIComponent(model.replace(/^anthropic\//, "")).replaceAll("%40", "@")
  const { "anthropic-version": _version, ...headers } = request.headers ?? {}
  return {
    ...request,
    path: `/publishers/anthropic/models/${id}:${isStreamed ? "streamRawPredict" : "rawPredict"}`,
    headers,
    body: { anthropic_version: ANTHROPIC_VERSION, ...body },
  }
}

export type VertexAccess = { account: ServiceAccount; origin: string; parent: string }

/** Endpoint and credential for Vertex. Throws a CredentialError. */
export function vertexAccess({ apiKey = "", baseUrl, regions }: Provider, cloud: Vertex): VertexAccess {
  const account = parseServiceAccount(apiKey)
  const location = account.region ?? cloud.location ?? GLOBAL
  if (regions && location !== (cloud.location ?? GLOBAL)) {
    throw new CredentialError("region differs from the location in PROVIDER_REGIONS")
  }
  const project = account.project_id ?? cloud.project
  if (project === undefined) throw new CredentialError("project_id is missing, and so is GOOGLE_CLOUD_PROJECT")
  const origin = baseUrl === VERTEX_BASE_URL ? originOf(location) : baseUrl
  return { account, origin, parent: `/v1/projects/${project}/locations/${location}` }
}

function originOf(location: string): string {
  if (location === GLOBAL) return VERTEX_BASE_URL
  return MULTI_REGIONS.includes(location)
    ? `https://aiplatform.${location}.rep.googleapis.com`
    : `https://${location}-aiplatform.googleapis.com`
}
