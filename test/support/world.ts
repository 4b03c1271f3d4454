import { env, exports } from "cloudflare:workers"
import { expect } from "vitest"
import type { Ledger } from "../../durable-objects/ledger/ledger.ts"
import { type LedgerClient, openLedger } from "../../src/ledger/client.ts"

const BASE = "http://gateway.test/api/v1"
export const BOOTSTRAP = "sk-gw-boot-of-the-test-suite-0123456789"

const front = () => (exports as unknown as { default: Fetcher }).default

/** The gateway's HTTP API, with or without a key. */
export function client(key?: string) {
  const call = (method: string, resource: string, body?: unknown, headers: Record<string, string> = {}) =>
    front().fetch(`${BASE}${resource}`, {
      method,
      headers: {
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    })
  return {
    get: (resource: string, headers?: Record<string, string>) => call("GET", resource, undefined, headers),
    post: (resource: string, body: unknown, headers?: Record<string, string>) => call("POST", resource, body, headers),
    put: (resource: string, body: unknown) => call("PUT", resource, body),
    patch: (resource: string, body: unknown) => call("PATCH", resource, body),
    delete: (resource: string) => call("DELETE", resource),
    call,
    /** A body without a length. */
    callRaw: (method: string, resource: string, body: ReadableStream) =>
      front().fetch(`${BASE}${resource}`, {
        method,
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body,
      }),
    callBytes: (method: string, resource: string, body: Uint8Array, type: string) =>
      front().fetch(`${BASE}${resource}`, {
        method,
        headers: { authorization: `Bearer ${key}`, "content-type": type },
        body,
      }),
    /** A chat completion with one user message. */
    chat: (model: string, text: string, more: Record<string, unknown> = {}, headers?: Record<string, string>) =>
      call("POST", "/chat/completions", { model, messages: [{ role: "user", content: text }], ...more }, headers),
  }
}

export type TestClient = ReturnType<typeof client>

export const operatorClient = client(BOOTSTRAP)

const OPERATOR_ROUTES = /^\w+ \/(?:catalogue|organizations|reconciliations|secrets\/rotate)|^POST \/credits$/
/** Whether an operation, `METHOD /path`, is one of the operator. The operator's home may have no interns. */
export const isOfOperator = (operation: string) => OPERATOR_ROUTES.test(operation)

/** The body of a response with this status; another status fails and shows the body. */
export async function expectJson<T = Record<string, never>>(
  status: number,
  answer: Promise<Response> | Response,
): Promise<T> {
  const response = await answer
  const text = await response.text()
  expect(response.status, text).toBe(status)
  return JSON.parse(text) as T
}

export type Workspace = {
  organizationId: string
  workspaceId: string
  key: string
  managementKey: string
  /** With the normal key. */
  as: TestClient
  manage: TestClient
  ledger: LedgerClient
  /** The Durable Object of `ledger`. */
  object: DurableObjectStub<Ledger>
}

/** A new organization for one test. */
export async function newWorkspace(balanceUsd = 100): Promise<Workspace> {
  type Made = { data: { id: string; workspace_id: string; api_key: string; management_key: string } }
  const input = { name: "Test", starting_balance_usd: balanceUsd }
  const { data } = await expectJson<Made>(201, operatorClient.post("/organizations", input))
  return {
    organizationId: data.id,
    workspaceId: data.workspace_id,
    key: data.api_key,
    managementKey: data.management_key,
    as: client(data.api_key),
    manage: client(data.management_key),
    ledger: openLedger(env, data.id),
    object: env.LEDGER.get(env.LEDGER.idFromName(data.id)),
  }
}

/** A key of that workspace, created with its management key. */
export async function newKey(
  workspace: Workspace,
  input: Record<string, unknown> = {},
): Promise<{ key: string; hash: string; as: TestClient }> {
  type Made = { key: string; data: { hash: string } }
  const made = await expectJson<Made>(201, workspace.manage.post("/keys", { name: "test", ...input }))
  return { key: made.key, hash: made.data.hash, as: client(made.key) }
}

/** A user in that workspace's organization. */
export async function newMember(workspace: Workspace, userId: string): Promise<string> {
  await expectJson(
    201,
    workspace.manage.post("/organization/members", { user_id: userId, email: `${userId}@example.com` }),
  )
  return userId
}

/** The data of a stream's frames, with `[DONE]` unchanged and without comments. */
export async function readStream(
  answer: Promise<Response> | Response,
): Promise<{ chunks: Chunk[]; done: boolean; raw: string; response: Response }> {
  const response = await answer
  const raw = await response.text()
  expect(response.status, raw).toBe(200)
  const data = raw
    .split(/\r\n\r\n|\n\n|\r\r/)
    .map((frame) =>
      frame
        .split(/\r\n|\n|\r/)
        .filter((line) => line.startsWith("data:"))
        .map((line) => line.slice(5).trimStart())
        .join("\n"),
    )
    .filter((frame) => frame !== "")
  const done = data.at(-1) === "[DONE]"
  const chunks = (done ? data.slice(0, -1) : data).map((frame) => JSON.parse(frame) as Chunk)
  return { chunks, done, raw, response }
}

export type Chunk = {
  id: string
  object: string
  created: number
  model: string
  choices: {
    index: number
    delta: { content?: string; reasoning?: string; tool_calls?: unknown[]; refusal?: string }
    finish_reason: string | null
  }[]
  usage?: { prompt_tokens: number; completion_tokens: number; total_tokens: number; cost?: number }
  error?: { code: number; message: string; metadata?: { error_type?: string; provider_code?: string } }
}

export function textOf(chunks: readonly Chunk[]): string {
  return chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("")
}

export type Receipt = {
  id: string
  total_cost: number
  tokens_prompt: number
  tokens_completion: number
  tokens_from: string
  ending: string
  finish_reason: string | null
  status: number
  provider_responses: { status: number | null }[]
  native_tokens_cached: number
}

/** Holds of calls, after settled ones are charged. A lease is not a call. */
export async function openHolds(workspace: Workspace) {
  await workspace.ledger.balance()
  return (await workspace.object.holds()).filter(({ isLease }) => !isLease)
}

/** The charge of a call, by the id in its response. */
export async function receiptOf(workspace: Workspace, response: Response): Promise<Receipt> {
  const id = response.headers.get("x-generation-id") ?? ""
  const { data } = await expectJson<{ data: Receipt }>(200, workspace.as.get(`/generation?id=${id}`))
  return data
}
