import { evictDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { expect } from "vitest"
import { COMPLETION_WINDOW_MS } from "../../src/batches/batch.ts"
import { wakeBatch } from "../../src/batches/open-batch.ts"
import { newId } from "../../src/support/ids.ts"
import { eventually } from "../support/eventually.ts"
import { expectJson, type TestClient, type Workspace } from "../support/world.ts"

export type Batch = {
  id: string
  status: string
  endpoint: string
  input_file_id: string
  output_file_id: string | null
  error_file_id: string | null
  errors: { data: { code: string; message: string; line: number | null; param: string | null }[] } | null
  request_counts: { total: number; completed: number; failed: number }
  usage: { input_tokens: number; output_tokens: number }
  metadata: Record<string, string> | null
  cost?: number
}
export type Line = {
  id: string
  custom_id: string
  response: { status_code: number; request_id: string; body: Record<string, unknown> } | null
  error: { code: string; message: string } | null
}

export const ENDPOINT = "/v1/chat/completions"

export function request(id: string, text: string, more: object = {}): object {
  const body = { model: "sim/echo", messages: [{ role: "user", content: text }], ...more }
  return { custom_id: id, method: "POST", url: ENDPOINT, body }
}

/** Uploads as the OpenAI client does: the purpose comes before the file. */
export async function upload(as: TestClient, content: string): Promise<string> {
  const form = new FormData()
  form.append("purpose", "batch")
  form.append("file", new File([content], "batch.jsonl"))
  const sent = new Request("http://x/", { method: "POST", body: form })
  const bytes = new Uint8Array(await sent.arrayBuffer())
  const answer = as.callBytes("POST", "/files", bytes, sent.headers.get("content-type") ?? "")
  return (await expectJson<{ id: string }>(200, answer)).id
}

export function toJsonl(lines: readonly object[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("")
}

export async function createBatch(as: TestClient, lines: readonly object[], more: object = {}): Promise<Batch> {
  const input = { input_file_id: await upload(as, toJsonl(lines)), endpoint: ENDPOINT, completion_window: "24h" }
  return expectJson<Batch>(200, as.post("/batches", { ...input, ...more }))
}

export async function waitForStatus(as: TestClient, { id }: Pick<Batch, "id">, status: string): Promise<Batch> {
  return eventually(async () => {
    const batch = await expectJson<Batch>(200, as.get(`/batches/${id}`))
    expect(batch.status, JSON.stringify(batch)).toBe(status)
    return batch
  })
}

export function readLines(as: TestClient, fileId: string | null): Promise<Line[]> {
  return readJsonLines(as, `/files/${fileId}/content`)
}

export async function readJsonLines<T>(as: TestClient, resource: string): Promise<T[]> {
  const response = await as.get(resource)
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as T)
}

/** A batch of one request for each text, in the batches of a provider. */
export function createProviderBatch(
  as: TestClient,
  texts: readonly string[],
  { provider, ...body }: { provider: string; model: string },
): Promise<Batch> {
  return createBatch(
    as,
    texts.map((text) => request(text, text, { max_tokens: 50, ...body })),
    { provider },
  )
}

/** An event for the object of a batch: `lose` evicts it after waking it. */
export type Step = "wake" | "lose"

/** Takes the steps, then wakes the object until the batch has ended. */
export async function endsAfter(as: TestClient, { id }: Pick<Batch, "id">, steps: readonly Step[]): Promise<Batch> {
  for (const step of steps) {
    await wakeBatch(env, id)
    if (step === "lose") await evictDurableObject(env.BATCH.get(env.BATCH.idFromName(id)))
  }
  return eventually(async () => {
    await wakeBatch(env, id)
    const batch = await expectJson<Batch>(200, as.get(`/batches/${id}`))
    expect(["completed", "expired"]).toContain(batch.status)
    return batch
  })
}

type Stored = { keyHash: string; inputFileId: string; createdAt?: number; status?: string }

/** A batch as left by a Worker that dies before it wakes the object. */
export async function insertBatch(workspace: Workspace, stored: Stored): Promise<Pick<Batch, "id">> {
  const { keyHash, inputFileId, createdAt = Date.now(), status = "validating" } = stored
  const id = `batch_${newId()}`
  const actor = { label: "test", creatorUserId: null, requestId: "req-test" }
  const origin = JSON.stringify({ host: "gateway.test", region: null, headers: {}, actor })
  const { organizationId, workspaceId } = workspace
  const times = [createdAt, createdAt, createdAt + COMPLETION_WINDOW_MS]
  const values = [id, organizationId, workspaceId, keyHash, status, ENDPOINT, inputFileId, origin, ...times]
  await env.DB.prepare(
    `INSERT INTO batches (id, organization_id, workspace_id, key_hash, status, endpoint, input_file_id, origin,
       created_at, updated_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
    .bind(...values)
    .run()
  return { id }
}

/** Calls of a batch in the database, once all of them have arrived. */
export async function chargesOf(batchId: string): Promise<number[]> {
  const { results } = await env.DB.prepare(
    "SELECT cost_nano AS cost FROM generations WHERE record ->> 'sessionId' = ? ORDER BY id",
  )
    .bind(batchId)
    .all<{ cost: number }>()
  return results.map(({ cost }) => cost)
}
