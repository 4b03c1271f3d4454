import { callWithKey } from "../../src/app/key-calls.ts"
import { pathOfEndpoint } from "../../src/batches/batch.ts"
import { bodyOf, type InputLine } from "../../src/batches/input.ts"
import { type LineResult, toLineResult, withoutResponse } from "../../src/batches/result.ts"
import type { BatchRow } from "../../src/batches/table.ts"
import type { Env } from "../../src/config/env.ts"
import { objectKey } from "../../src/files/file.ts"
import { awaitSettlement } from "../../src/inference/accounting/awaited-settlement.ts"
import { type Deferral, defer, keptCallOf } from "../../src/inference/deferred/deferral.ts"
import { BASE_PATH } from "../../src/http/paths.ts"
import { regionOf } from "../../src/http/request/region.ts"
import { readAtMost } from "../../src/support/bytes.ts"
import type { Json } from "../../src/support/text/json.ts"
import { logError } from "../../src/support/log.ts"

/** Limited, because several responses are in memory at the same time. */
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024

export type RequestDeps = { row: BatchRow; env: Env; executionCtx: ExecutionContext }

/** Runs one request of a batch as an ordinary call of its key. Never throws. */
export async function runRequest(line: InputLine, deps: RequestDeps, deferral?: Deferral): Promise<LineResult> {
  try {
    return await send(line, deps, deferral)
  } catch (cause) {
    logError("request of a batch failed", { batch: deps.row.id, line: line.line }, cause)
    return { ...withoutResponse("internal", "Something went wrong inside the gateway."), retryAfterMs: 0 }
  }
}

async function send(
  line: InputLine,
  { row, env, executionCtx }: RequestDeps,
  deferral: Deferral | undefined,
): Promise<LineResult> {
  const kept = keptCallOf(deferral)
  const body = kept ? kept.body : await readBody(line, row, env)
  if (!body) return withoutResponse("input_file_unavailable", "The input file was deleted before this request ran.")
  const request = new Request(`https://${row.origin.host}${BASE_PATH}${pathOfEndpoint(row.endpoint)}`, {
    method: "POST",
    headers: { ...row.origin.headers, "content-type": "application/json", "x-session-id": row.id },
    body: JSON.stringify(body),
  })
  // A response is read wherever the hostname is now.
  if (!kept && regionOf(request, env) !== row.origin.region) {
    return withoutResponse("region_changed", "The hostname that the batch was created at has another region now.")
  }
  const background: Promise<unknown>[] = []
  const waitUntil = (work: Promise<unknown>) => {
    background.push(work)
    executionCtx.waitUntil(work)
  }
  const context: ExecutionContext = Object.create(executionCtx, { waitUntil: { value: waitUntil } })
  if (deferral) defer(context, deferral)
  awaitSettlement(context)
  const key = { hash: row.keyHash, hasRun: deferral !== undefined && "response" in deferral }
  const response = await callWithKey({ key, request, env, executionCtx: context })
  const bytes = response.body ? await readAtMost(response.body, MAX_RESPONSE_BYTES) : new Uint8Array()
  // Waits for the settlement, so that every stored result is charged and recorded.
  await Promise.allSettled(background)
  if (!bytes) {
    return withoutResponse("response_too_large", `The response has more than ${MAX_RESPONSE_BYTES} bytes.`)
  }
  return toLineResult(response.status, response.headers, new TextDecoder().decode(bytes))
}

async function readBody({ offset, length }: InputLine, row: BatchRow, env: Env): Promise<Json | undefined> {
  const stored = await env.FILES.get(inputKeyOf(row), { range: { offset, length } })
  return stored ? bodyOf(await stored.text()) : undefined
}

export function inputKeyOf({ inputFileId: id, organizationId, workspaceId }: BatchRow): string {
  return objectKey({ id, organizationId, workspaceId })
}
