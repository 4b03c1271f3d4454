import type * as z from "zod"
import type { Principal } from "../../access/principal.ts"
import type { Actor } from "../../audit/entry.ts"
import type { Env } from "../../config/env.ts"
import { GatewayError } from "../../errors/errors.ts"
import { newRow, storeFile } from "../../files/upload/store-file.ts"
import type { FileRow } from "../../files/table.ts"
import { MAX_LINE_BYTES } from "../batch.ts"
import { MESSAGES_ENDPOINT } from "./message-batch.ts"
import type { NewMessageBatch } from "./message-batch-schemas.ts"

type Requests = z.infer<typeof NewMessageBatch>["requests"]

/** The lines of an input file. Throws 400 for a request that the batch could not run. */
export function linesOfRequests(requests: Requests): Uint8Array[] {
  const encoder = new TextEncoder()
  const seen = new Set<string>()
  return requests.map(({ custom_id: customId, params }, at) => {
    if (seen.has(customId)) throw invalid(at, "custom_id", `must be unique, but "${customId}" occurs twice`)
    seen.add(customId)
    if (params["stream"] != null && params["stream"] !== false) throw invalid(at, "params.stream", "must be false")
    const request = { custom_id: customId, method: "POST", url: MESSAGES_ENDPOINT, body: params }
    const line = encoder.encode(`${JSON.stringify(request)}\n`)
    if (line.byteLength > MAX_LINE_BYTES) throw invalid(at, "params", `must be at most ${MAX_LINE_BYTES} bytes`)
    return line
  })
}

function invalid(at: number, field: string, rule: string): GatewayError {
  return new GatewayError("invalid_request", `requests[${at}].${field}: ${rule}.`)
}

type Owner = Pick<Principal, "organizationId" | "workspaceId" | "internId" | "keyHash">

/** Stores the requests of a batch as its input file. */
export async function storeInput(
  env: Env,
  { lines, batchId, owner, actor }: { lines: readonly Uint8Array[]; batchId: string; owner: Owner; actor: Actor },
): Promise<FileRow> {
  const mimeType = "application/x-ndjson"
  const { internId, keyHash } = owner
  const about = { filename: `${batchId}_input.jsonl`, mimeType, source: "upload", internId, keyHash, batchId } as const
  return storeFile(env, { actor, row: newRow(owner, about), content: each(lines), mimeType: () => mimeType })
}

async function* each(lines: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* lines
}
