import { api } from "../../../src/app/app.ts"
import { describeApi } from "../../../src/http/openapi.ts"
import type { Ids } from "./tenant.ts"

/** Every operation of the document that takes the id of a tenant's record, with a request that contains it. */

type Schema = {
  $ref?: string
  properties?: Record<string, Schema>
  items?: Schema
  allOf?: Schema[]
  anyOf?: Schema[]
  oneOf?: Schema[]
}
type Described = {
  parameters?: { name: string; in: string }[]
  requestBody?: { content: Record<string, { schema?: Schema; example?: unknown }> }
}
const document = describeApi(api) as unknown as {
  paths: Record<string, Record<string, Described>>
  components: { schemas: Record<string, Schema> }
}

/** The kind of id of a path parameter; the first rule that matches. `undefined`: no id of a tenant's record. */
const PATH_IDS: [RegExp, keyof Ids | undefined][] = [
  [/\{author\}|^\/models?\/\{id\}|^\/models\/\{model\}/, undefined],
  [/\{hash\}/, "key"],
  [/\{workspaceRef\}/, "team"],
  [/^\/presets\/\{slug\}/, "preset"],
  [/^\/mcp-servers\/\{slug\}/, "mcpServer"],
  [/^\/mcp\//, "mcpServer"],
  [/^\/passthrough-services\/\{slug\}/, "passthroughService"],
  [/^\/passthrough\//, "passthroughService"],
  [/\{userId\}/, "user"],
  [/\{batch_id\}/, "batch"],
  [/\{message_batch_id\}/, "messageBatch"],
  [/\{file_id\}\/content/, "export"],
  [/\{file_id\}/, "file"],
  [/\{jobId\}/, "video"],
  [/^\/vault\/secrets\/\{name\}/, "secret"],
  [/\{internId\}/, "intern"],
  [/^\/calls\/\{id\}/, "generation"],
  [/^\/byok/, "byok"],
  [/^\/guardrails/, "guardrail"],
  [/^\/observability/, "destination"],
  [/^\/alerts/, "channel"],
  [/^\/scim\/directories/, "directory"],
  [/^\/scim\/group-mappings/, "mapping"],
  [/^\/scim\/sync-jobs/, "job"],
]
const FURTHER_PATH_IDS: Record<string, keyof Ids> = {
  sessionId: "session",
  questionId: "question",
  scheduleId: "schedule",
}

/**
 * Parameters and fields that look like ids but identify no record of a tenant: labels that the client chooses, names
 * in requests to models, and credentials.
 */
const NO_ID =
  /^(name|slug|user|session_id|session|previous_response_id|app_slug|external|version|interval|vendor|upstream_id|classifier_id|last-event-id|first_name|last_name|names|metadata|prompt_cache_key|key|before_id|io_logging_api_key_ids|per_end_user)$/
const LOOKS_LIKE_ID =
  /^clone_of$|(^|_)(ids?|hash(es)?|slug|ref|users?|vault|workspace|job|session|key|names?|preset)$|Id$|Ref$/

export type Request = { query?: Record<string, string>; body?: unknown }
export type Operation = {
  name: string
  method: string
  path: string
  /** Names of parameters and fields that are ids, without those of the path. */
  idNames: string[]
  example: unknown
}

function idNamesOf({ parameters = [], requestBody }: Described): string[] {
  const queries = parameters.filter((parameter) => parameter.in === "query").map(({ name }) => name)
  const fields = Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => namesOf(schema, 0))
  return [...new Set([...queries, ...fields])].filter((name) => LOOKS_LIKE_ID.test(name) && !NO_ID.test(name))
}

/** Fields of a body and of nested objects, but not of messages and tools. */
function namesOf(schema: Schema | undefined, depth: number): string[] {
  const reference = schema?.$ref?.split("/").at(-1)
  const { properties = {}, items, ...parts } = (reference ? document.components.schemas[reference] : schema) ?? {}
  if (depth > 2) return []
  const below = [parts.allOf, parts.anyOf, parts.oneOf].flatMap((all) => all ?? [])
  const nested = Object.entries(properties).filter(
    ([name]) => !/messages|tools|input|text|tool_choice|plugins|config|thinking|models|provider|trace/.test(name),
  )
  return [
    ...Object.keys(properties),
    ...nested.flatMap(([, property]) => namesOf(property, depth + 1)),
    ...below.flatMap((part) => namesOf(part, depth)),
    ...(items ? namesOf(items, depth + 1) : []),
  ]
}

/** Ids that a client gives to new records, ids in a body that is not JSON, and those of public models. */
const GIVEN: Record<string, string[]> = {
  "POST /organization/members": ["user_id"],
  "POST /messages": ["user_id"],
  "POST /keys": ["api_key"],
  "GET /models": ["after_id"],
}

export const operations: Operation[] = Object.entries(document.paths)
  .filter(([path]) => !path.startsWith("/console/"))
  .flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path,
      idNames: idNamesOf(described).filter((id) => !GIVEN[`${method.toUpperCase()} ${path}`]?.includes(id)),
      example: described.requestBody?.content["application/json"]?.example,
    })),
  )

/** A path with these ids as its parameters. */
export function fillPath({ path }: Operation, ids: Ids): string {
  const kind = PATH_IDS.find(([pattern]) => pattern.test(path))?.[1]
  return path.replaceAll(/\{(\w+)\}/g, (place, name: string) => {
    if (name === "interval") return "daily"
    if (name === "version") return "1"
    if (name === "model") return "sim/echo"
    if (name === "name") return path.startsWith("/vault/interns") ? ids.internSecret : ids.secret
    const further = FURTHER_PATH_IDS[name]
    if (further) return encodeURIComponent(ids[further])
    return kind ? encodeURIComponent(ids[kind]) : place
  })
}

const SECRET = { hosts: ["api.example.com"], value: "Written" }
const CONTENTS = [{ parts: [{ text: "Hi" }] }]
const MESSAGES = [{ role: "user", content: "Hi" }]

/** Valid requests, by operation; the others send the example of the document. */
const REQUESTS: Record<string, (ids: Ids) => Request> = {
  "POST /chat/completions": ({ preset }) => ({ body: { preset, model: "sim/echo", messages: MESSAGES } }),
  "POST /fim/completions": ({ preset }) => ({ body: { preset, model: "sim/echo", prompt: "Hi" } }),
  "POST /completions": ({ preset }) => ({ body: { preset, model: "sim/echo", prompt: "Hi" } }),
  "POST /models/{model}:generateContent": ({ preset }) => ({ body: { preset, contents: CONTENTS } }),
  "POST /models/{model}:streamGenerateContent": ({ preset }) => ({
    query: { alt: "sse" },
    body: { preset, contents: CONTENTS },
  }),
  "POST /responses": ({ preset }) => ({ body: { preset, model: "sim/echo", input: "Hi" } }),
  "POST /messages": ({ preset }) => ({ body: { preset, model: "sim/echo", max_tokens: 100, messages: MESSAGES } }),
  "POST /estimate": ({ preset }) => ({ body: { preset, model: "sim/echo", max_tokens: 100, messages: MESSAGES } }),
  "GET /scim/groups": ({ directory }) => ({ query: { directory_id: directory } }),
  "GET /generation": ({ generation }) => ({ query: { id: generation } }),
  "GET /generation/content": ({ generation }) => ({ query: { id: generation } }),
  "POST /generation/feedback": ({ generation }) => ({
    body: { generation_id: generation, category: "incorrect_response" },
  }),
  "GET /calls": ({ workspace, key, user, preset }) => ({ query: { workspace, key, creator_user_id: user, preset } }),
  // Policies belong to the deployment, not to an organization.
  "POST /oauth/token": () => ({ body: { federation_policy_id: "workloads" } }),
  "GET /keys": ({ workspace }) => ({ query: { workspace_id: workspace } }),
  "POST /keys": ({ workspace, user }) => ({
    body: { name: "n", workspace_id: workspace, creator_user_id: user },
  }),
  "PATCH /keys/{hash}": () => ({ body: { name: "Written" } }),
  "GET /activity": ({ key, user, workspace }) => ({
    query: { api_key_hash: key, user_id: user, workspace_id: workspace },
  }),
  "GET /audit": ({ guardrail, key, workspace }) => ({
    query: { resource_id: guardrail, key_hash: key, workspace_id: workspace },
  }),
  "PATCH /workspaces/{workspaceRef}": () => ({ body: { name: "Written" } }),
  "PUT /workspaces/{workspaceRef}/aliases/{name}": ({ key }) => ({
    body: { arms: [{ model: "sim/echo", weight: 1, key_hashes: [key] }] },
  }),
  "POST /workspaces/{workspaceRef}/members/add": ({ user }) => ({ body: { user_ids: [user] } }),
  "POST /workspaces/{workspaceRef}/members/remove": ({ user }) => ({ body: { user_ids: [user] } }),
  "PUT /workspaces/{workspaceRef}/budgets/{interval}": () => ({ body: { limit_usd: 50 } }),
  "POST /organization/members": () => ({ body: { email: `${crypto.randomUUID()}@example.com` } }),
  "PATCH /organization/members/{userId}": () => ({ body: { first_name: "Written" } }),
  ...Object.fromEntries(
    [
      "GET /presets",
      "GET /presets/{slug}",
      "GET /presets/{slug}/versions",
      "GET /presets/{slug}/versions/{version}",
    ].map((name) => [name, ({ workspace }: Ids) => ({ query: { workspace_id: workspace } })]),
  ),
  "PATCH /presets/{slug}": ({ workspace }) => ({ query: { workspace_id: workspace }, body: { name: "Written" } }),
  ...Object.fromEntries(
    ["chat/completions", "responses", "messages"].map((format) => [
      `POST /presets/{slug}/${format}`,
      ({ workspace }: Ids) => ({ query: { workspace_id: workspace }, body: { model: "sim/echo", temperature: 0.5 } }),
    ]),
  ),
  "GET /guardrails": ({ workspace }) => ({ query: { workspace_id: workspace } }),
  "POST /guardrails": ({ workspace }) => ({ body: { name: "New", workspace_id: workspace } }),
  "POST /guardrails/test": ({ guardrail }) => ({ body: { guardrail_id: guardrail, text: "Hi" } }),
  "PATCH /guardrails/{id}": () => ({ body: { name: "Written" } }),
  "POST /guardrails/{id}/assignments/keys": ({ key }) => ({ body: { key_hashes: [key] } }),
  "POST /guardrails/{id}/assignments/keys/remove": ({ key }) => ({ body: { key_hashes: [key] } }),
  "POST /guardrails/{id}/assignments/members": ({ user }) => ({ body: { member_user_ids: [user] } }),
  "POST /guardrails/{id}/assignments/members/remove": ({ user }) => ({ body: { member_user_ids: [user] } }),
  "GET /byok": ({ workspace }) => ({ query: { workspace_id: workspace } }),
  "POST /byok": ({ workspace, key, user }) => ({
    body: {
      provider: "openai",
      key: "sk-own-0123456789abcdef",
      workspace_id: workspace,
      allowed_api_key_hashes: [key],
      allowed_user_ids: [user],
    },
  }),
  "PATCH /byok/{id}": ({ key, user }) => ({ body: { allowed_api_key_hashes: [key], allowed_user_ids: [user] } }),
  "PUT /vault/secrets/{name}": () => ({ body: SECRET }),
  "PUT /vault/interns/{internId}/secrets/{name}": () => ({ body: SECRET }),
  "POST /vault/interns/{internId}/secrets/copy": ({ secret }) => ({ body: { names: [secret] } }),
  "GET /observability/destinations": ({ workspace }) => ({ query: { workspace_id: workspace } }),
  "POST /observability/destinations": ({ workspace, key }) => ({
    body: {
      type: "webhook",
      name: "New",
      config: { url: "https://hooks.example.com/" },
      workspace_id: workspace,
      api_key_hashes: [key],
    },
  }),
  "PATCH /observability/destinations/{id}": ({ key }) => ({ body: { name: "Written", api_key_hashes: [key] } }),
  "GET /alerts": ({ workspace }) => ({ query: { workspace_id: workspace } }),
  "GET /alerts/channels": ({ workspace }) => ({ query: { workspace_id: workspace } }),
  "POST /alerts/channels": ({ workspace }) => ({
    body: { type: "slack", name: "New", config: { url: "https://hooks.example.com/" }, workspace_id: workspace },
  }),
  "PATCH /alerts/channels/{id}": () => ({ body: { name: "Written" } }),
  "POST /auth/keys/code": ({ workspace }) => ({
    body: { callback_url: "https://app.example/back", workspace_id: workspace },
  }),
  "GET /files": ({ workspace, file }) => ({ query: { workspace_id: workspace, after_id: file } }),
  ...Object.fromEntries(
    ["GET /files/{file_id}", "DELETE /files/{file_id}", "GET /files/{file_id}/content"].map((name) => [
      name,
      ({ workspace }: Ids) => ({ query: { workspace_id: workspace } }),
    ]),
  ),
  "POST /files": ({ workspace }) => ({ query: { workspace_id: workspace } }),
  "GET /batches": ({ workspace, batch }) => ({ query: { workspace_id: workspace, after: batch } }),
  "POST /batches": ({ batchInput }) => ({
    body: { input_file_id: batchInput, endpoint: "/v1/chat/completions", completion_window: "24h" },
  }),
  "GET /batches/{batch_id}": ({ workspace }) => ({ query: { workspace_id: workspace } }),
  "POST /batches/{batch_id}/cancel": ({ workspace }) => ({ query: { workspace_id: workspace }, body: {} }),
  "GET /messages/batches": ({ workspace, messageBatch }) => ({
    query: { workspace_id: workspace, after_id: messageBatch },
  }),
  "POST /messages/batches": () => ({
    body: { requests: [{ custom_id: "a", params: { model: "sim/echo", max_tokens: 5, messages: [] } }] },
  }),
  "POST /messages/batches/{message_batch_id}/cancel": ({ workspace }) => ({
    query: { workspace_id: workspace },
    body: {},
  }),
  ...Object.fromEntries(
    ["GET /messages/batches/{message_batch_id}", "DELETE /messages/batches/{message_batch_id}"].map((name) => [
      name,
      ({ workspace }: Ids) => ({ query: { workspace_id: workspace } }),
    ]),
  ),
  "GET /messages/batches/{message_batch_id}/results": ({ workspace }) => ({ query: { workspace_id: workspace } }),
  "GET /mcp-servers": ({ workspace }) => ({ query: { workspace_id: workspace } }),
  "POST /mcp-servers": ({ workspace }) => ({
    body: {
      slug: `new-${crypto.randomUUID().slice(0, 8)}`,
      name: "New",
      url: "https://mcp.example.com/",
      workspace_id: workspace,
    },
  }),
  "GET /mcp-servers/{slug}": ({ workspace }) => ({ query: { workspace_id: workspace } }),
  "PATCH /mcp-servers/{slug}": ({ workspace }) => ({ query: { workspace_id: workspace }, body: { name: "Written" } }),
  "DELETE /mcp-servers/{slug}": ({ workspace }) => ({ query: { workspace_id: workspace } }),
  "GET /passthrough-services": ({ workspace }) => ({ query: { workspace_id: workspace } }),
  "POST /passthrough-services": ({ workspace, key }) => ({
    body: {
      allowed_api_key_hashes: [key],
      slug: `new-${crypto.randomUUID().slice(0, 8)}`,
      name: "New",
      base_url: "https://api.example.com",
      rules: [{ path: "/*" }],
      workspace_id: workspace,
    },
  }),
  "GET /passthrough-services/{slug}": ({ workspace }) => ({ query: { workspace_id: workspace } }),
  "PATCH /passthrough-services/{slug}": ({ workspace, key }) => ({
    query: { workspace_id: workspace },
    body: { name: "Written", allowed_api_key_hashes: [key] },
  }),
  "DELETE /passthrough-services/{slug}": ({ workspace }) => ({ query: { workspace_id: workspace } }),
  "POST /exports": ({ workspace }) => ({
    body: { from: "2026-01-01T00:00:00Z", format: "csv", workspace_id: workspace },
  }),
  "PATCH /scim/directories/{id}": () => ({ body: { name: "Written" } }),
  "POST /scim/group-mappings": ({ group, workspace }) => ({
    body: { scim_group_id: group, workspace_id: workspace },
  }),
  "PATCH /scim/group-mappings/{id}": () => ({ body: { role: "admin" } }),
  "DELETE /scim/group-mappings/{id}": () => ({ query: { keep_members: "true" } }),
  "POST /interns": ({ workspace, vault, intern }) => ({
    body: { name: `n${crypto.randomUUID().slice(0, 8)}`, workspace_id: workspace, vault_id: vault, clone_of: intern },
  }),
  "GET /interns": ({ workspace }) => ({ query: { workspace_id: workspace } }),
  "PATCH /interns/{internId}": () => ({ body: { description: "Written" } }),
  "POST /interns/{internId}/chat/completions": () => ({ body: { stream: true, messages: MESSAGES } }),
  "POST /interns/{internId}/questions/{questionId}": ({ session }) => ({
    body: { session_id: session, content: "allow_once" },
  }),
  "POST /interns/{internId}/schedules": () => ({ body: { cron: "0 9 * * *", prompt: "Written" } }),
  "PATCH /interns/{internId}/schedules/{scheduleId}": () => ({ body: { enabled: false } }),
  "POST /interns/{internId}/files/publish": () => ({ body: { path: "mine.txt" } }),
  "GET /interns/{internId}/files/content": () => ({ query: { path: "mine.txt" } }),
  "PUT /interns/{internId}/files/content": () => ({ query: { path: "mine.txt" }, body: "Written" }),
  "DELETE /interns/{internId}/files/content": () => ({ query: { path: "mine.txt" } }),
  "PUT /interns/{internId}/webhook": () => ({ body: { url: "https://hooks.example.com/" } }),
  "POST /interns/{internId}/daemon/token": () => ({ body: { replace: true } }),
}

export function requestOf({ name, method, example }: Operation, ids: Ids): Request {
  const request = REQUESTS[name]?.(ids) ?? {}
  const hasBody = method !== "GET" && method !== "DELETE"
  return hasBody ? { body: example ?? {}, ...request } : request
}

/** The kinds of ids that a request of this operation contains. */
export function placesOf(operation: Operation, ids: Ids): (keyof Ids)[] {
  const read = new Set<keyof Ids>()
  const recording = new Proxy(ids, {
    get(target, name: keyof Ids) {
      read.add(name)
      return target[name]
    },
  })
  fillPath(operation, recording)
  requestOf(operation, recording)
  return [...read]
}

/** Whether the routes take the join token of a daemon, not a key. */
export const isDaemons = ({ path }: Operation) => /\/daemon\/(files|secrets|egress|attach)$/.test(path)

/** Operations of the bootstrap key, which sees every organization. */
export const isOperators = ({ path }: Operation) =>
  /^\/(organizations|reconciliations|catalogue|secrets)/.test(path) || path === "/credits"
