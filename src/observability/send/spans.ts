import type { Outbound } from "../../outbound/send.ts"
import type { ConfigOf, Configured, KindName } from "../kinds.ts"
import { type CallEvent, flaggedFields, type Flags, traceOf } from "../event.ts"
import { type Attributes, withPrefix } from "./attributes.ts"
import { toResponseText, toChatMessage } from "./messages.ts"
import { type Extras, toOtlp } from "./otlp.ts"
import type { CallContent } from "../call-content.ts"
import { USER_AGENT, type Delivery } from "./delivery.ts"

/**
 * Destinations that receive OTLP over HTTP: URL, authentication, and attributes beyond the conventions. From their
 * documentation, November 2026.
 */

type Spans = Exclude<KindName, "webhook" | "s3" | "clickhouse" | "snowflake" | "ramp">
type Way = { url: string; headers: Record<string, string>; extras?: Extras }
const OPEN_INFERENCE: Extras = {
  span: (event, flags) => openInferenceAttributes(event, flags),
  turn: () => ({ "openinference.span.kind": "AGENT" }),
}

type Ways = { [Name in Spans]: (config: ConfigOf<Name>) => Way }

const WAYS: Ways = {
  "otel-collector": ({ endpoint }) => ({ url: toTracesUrl(endpoint), headers: {} }),
  // https://langfuse.com/integrations/native/opentelemetry
  langfuse: ({ baseUrl, publicKey, secretKey }) => ({
    url: appendPath(baseUrl, "/api/public/otel/v1/traces"),
    headers: { authorization: basic(publicKey, secretKey), "x-langfuse-ingestion-version": "4" },
    extras: {
      span: langfuseAttributes,
      turn: ({ turn }) => ({ "langfuse.observation.type": "agent", "langfuse.session.id": turn.session }),
    },
  }),
  // https://grafana.com/docs/grafana-cloud/send-data/otlp/send-data-otlp/
  grafana: ({ baseUrl, instanceId, apiKey }) => ({
    url: appendPath(baseUrl.replace(/\/otlp\/?$/, ""), "/otlp/v1/traces"),
    headers: { authorization: basic(instanceId, apiKey) },
  }),
  // https://docs.newrelic.com/docs/opentelemetry/best-practices/opentelemetry-otlp/
  newrelic: ({ licenseKey, region }) => ({
    url: region === "eu" ? "https://otlp.eu01.nr-data.net/v1/traces" : "https://otlp.nr-data.net/v1/traces",
    headers: { "api-key": licenseKey },
  }),
  // https://docs.datadoghq.com/llm_observability/instrumentation/otel_instrumentation/
  datadog: ({ apiKey, mlApp, url }) => ({
    url: appendPath(url.replace("://api.", "://otlp."), "/v1/traces"),
    headers: { "dd-api-key": apiKey, "dd-otlp-source": "llmobs", "dd-ml-app": mlApp },
    extras: { resource: { "service.name": mlApp, ml_app: mlApp } },
  }),
  // https://arize.com/docs/ax/integrations/opentelemetry/opentelemetry-arize-otel
  arize: ({ apiKey, baseUrl, modelId, spaceKey }) => ({
    url: appendPath(baseUrl, "/v1/traces"),
    headers: { authorization: apiKey, api_key: apiKey, space_id: spaceKey, "arize-space-id": spaceKey },
    extras: { resource: { model_id: modelId, "openinference.project.name": modelId }, ...OPEN_INFERENCE },
  }),
  // https://www.braintrust.dev/docs/integrations/sdk-integrations/opentelemetry
  braintrust: ({ apiKey, baseUrl, projectId }) => ({
    url: appendPath(baseUrl, "/otel/v1/traces"),
    headers: { authorization: `Bearer ${apiKey}`, "x-bt-parent": `project_id:${projectId}` },
  }),
  // https://www.comet.com/docs/opik/integrations/opentelemetry
  opik: ({ apiKey, projectName, workspace }) => ({
    url: "https://www.comet.com/opik/api/v1/private/otel/v1/traces",
    headers: { authorization: apiKey, "comet-workspace": workspace, projectname: projectName },
  }),
  // https://docs.wandb.ai/weave/guides/tracking/otel
  weave: ({ apiKey, baseUrl, entity, project }) => ({
    url: appendPath(baseUrl, "/otel/v1/traces"),
    headers: {
      authorization: basic("api", apiKey),
      "wandb-api-key": apiKey,
      project_id: `${entity}/${project}`,
    },
    extras: { resource: { "wandb.entity": entity, "wandb.project": project }, ...OPEN_INFERENCE },
  }),
  // https://docs.langchain.com/langsmith/trace-with-opentelemetry
  langsmith: ({ apiKey, endpoint, project, workspaceId }) => ({
    url: appendPath(endpoint, "/otel/v1/traces"),
    headers: {
      "x-api-key": apiKey,
      "langsmith-project": project,
      ...(workspaceId !== undefined && { "x-tenant-id": workspaceId }),
    },
    extras: { span: langsmithAttributes },
  }),
  // https://docs.sentry.io/concepts/otlp/direct/traces
  sentry: ({ dsn, otlpEndpoint }) => ({
    url: toTracesUrl(otlpEndpoint),
    headers: { "x-sentry-auth": `sentry sentry_key=${URL.parse(dsn)?.username ?? ""}` },
  }),
  // https://posthog.com/docs/llm-analytics/installation/opentelemetry
  posthog: ({ apiKey, endpoint }) => ({
    url: appendPath(endpoint, "/i/v0/ai/otel"),
    headers: { authorization: `Bearer ${apiKey}` },
    extras: { span: (event, flags) => ({ "posthog.distinct_id": userOf(event, flags) }) },
  }),
}

export function toSpans(to: Extract<Configured, { type: Spans }>, { events, flags }: Delivery): Outbound {
  // A row of the table belongs to one kind of configuration, which the type system cannot follow here.
  const way = (WAYS[to.type] as (config: typeof to.config) => Way)(to.config)
  return {
    url: way.url,
    method: "POST",
    headers: { "content-type": "application/json", "user-agent": USER_AGENT, ...way.headers, ...to.config.headers },
    body: JSON.stringify(toOtlp(events, flags, way.extras)),
  }
}

/** Accepts the address of a collector or the full path, as OTLP exporters do. */
function toTracesUrl(endpoint: string): string {
  const url = URL.parse(endpoint)
  return url && !url.pathname.endsWith("/v1/traces") ? appendPath(endpoint, "/v1/traces") : endpoint
}

export function appendPath(base: string, path: string): string {
  const url = new URL(base)
  url.pathname = url.pathname.replace(/\/+$/, "") + path
  return url.href
}

function basic(user: string, password: string): string {
  const bytes = new TextEncoder().encode(`${user}:${password}`)
  return `Basic ${btoa(String.fromCharCode(...bytes))}`
}

function userOf(event: CallEvent, flags: Flags): string | null {
  const { identity } = flaggedFields(event, flags)
  return ("user_id" in identity && identity.user_id) || null
}

function langfuseAttributes(event: CallEvent, flags: Flags): Attributes {
  const { generation, content } = event
  const { traceName, metadata } = traceOf(event)
  const { cost } = flaggedFields(event, flags)
  return {
    "langfuse.observation.type": generation.broadcast?.isToolRun ? "tool" : "generation",
    "langfuse.trace.name": traceName,
    "langfuse.session.id": generation.sessionId,
    "langfuse.user.id": userOf(event, flags),
    ...("total_cost" in cost && { "langfuse.observation.cost_details": JSON.stringify({ total: cost.total_cost }) }),
    ...withPrefix("langfuse.trace.metadata", metadata),
    ...(content && {
      "langfuse.observation.input": JSON.stringify(content.input),
      "langfuse.observation.output": toResponseText(content),
    }),
  }
}

/** https://arize-ai.github.io/openinference/spec/semantic_conventions.html */
function openInferenceAttributes(event: CallEvent, flags: Flags): Attributes {
  const { generation, content } = event
  const { tokens } = generation
  const { metadata } = traceOf(event)
  return {
    "openinference.span.kind": openInferenceKindOf(generation),
    "llm.model_name": generation.model,
    "llm.provider": generation.provider,
    "llm.token_count.prompt": tokens.prompt,
    "llm.token_count.completion": tokens.completion,
    "llm.token_count.total": tokens.prompt + tokens.completion,
    "user.id": userOf(event, flags),
    metadata: JSON.stringify(metadata),
    ...(content && {
      "input.value": JSON.stringify(content.input),
      "input.mime_type": "application/json",
      "output.value": toResponseText(content),
      "output.mime_type": isPlain(content) ? "text/plain" : "application/json",
    }),
  }
}

function openInferenceKindOf({ apiType, broadcast }: CallEvent["generation"]): string {
  if (broadcast?.isToolRun) return "TOOL"
  return apiType === "embeddings" ? "EMBEDDING" : "LLM"
}

function isPlain({ output }: CallContent): boolean {
  return output.refusal === undefined && (output.toolCalls ?? []).length === 0
}

function langsmithAttributes(event: CallEvent, flags: Flags): Attributes {
  const { generation, content } = event
  const { traceName, parentSpanId, metadata } = traceOf(event)
  const isToolRun = generation.broadcast?.isToolRun === true
  return {
    "langsmith.span.kind": isToolRun ? "tool" : "llm",
    // The name of the run, not of its trace: a child keeps the name of its span.
    "langsmith.trace.name": parentSpanId === null ? traceName : null,
    "langsmith.metadata.session_id": generation.sessionId,
    "langsmith.metadata.user_id": userOf(event, flags),
    ...(!isToolRun && { "langsmith.usage_metadata": JSON.stringify(langsmithUsage(event, flags)) }),
    ...withPrefix("langsmith.metadata", metadata),
    ...(content && {
      "gen_ai.prompt": JSON.stringify({ messages: content.input }),
      "gen_ai.completion": JSON.stringify({ messages: [toChatMessage(content)] }),
    }),
  }
}

/** LangSmith's own usage object: the conventions have no name for cost that it reads. */
function langsmithUsage(event: CallEvent, flags: Flags): object {
  const { prompt, completion, cached, cacheWrite, reasoning } = event.generation.tokens
  const { cost } = flaggedFields(event, flags)
  return {
    input_tokens: prompt,
    output_tokens: completion,
    total_tokens: prompt + completion,
    input_token_details: { cache_read: cached, cache_creation: cacheWrite },
    output_token_details: { reasoning },
    ...("total_cost" in cost && { total_cost: cost.total_cost }),
  }
}
