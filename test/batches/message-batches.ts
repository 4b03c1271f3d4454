import { expect } from "vitest"
import { eventually } from "../support/eventually.ts"
import { expectJson, type TestClient } from "../support/world.ts"
import { readJsonLines } from "./batches.ts"

export type MessageBatch = {
  id: string
  type: string
  processing_status: string
  request_counts: Record<"processing" | "succeeded" | "errored" | "canceled" | "expired", number>
  ended_at: string | null
  cancel_initiated_at: string | null
  results_url: string | null
}

export type MessageResult = {
  custom_id: string
  result: {
    type: string
    message?: { type: string; content: { type: string; text: string }[]; usage: Record<string, unknown> }
    error?: { type: string; error: { type: string; message: string }; request_id: string | null }
  }
}

export function messageRequest(id: string, text: string, more: object = {}): object {
  const messages = [{ role: "user", content: text }]
  return { custom_id: id, params: { model: "sim/echo", max_tokens: 100, messages, ...more } }
}

export function createMessageBatch(as: TestClient, requests: readonly object[], more: object = {}) {
  return expectJson<MessageBatch>(200, as.post("/messages/batches", { requests, ...more }))
}

export function endedBatch(as: TestClient, { id }: Pick<MessageBatch, "id">): Promise<MessageBatch> {
  return eventually(async () => {
    const batch = await expectJson<MessageBatch>(200, as.get(`/messages/batches/${id}`))
    expect(batch.processing_status, JSON.stringify(batch)).toBe("ended")
    return batch
  })
}

export function readResults(as: TestClient, { id }: Pick<MessageBatch, "id">): Promise<MessageResult[]> {
  return readJsonLines(as, `/messages/batches/${id}/results`)
}
