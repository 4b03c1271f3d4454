import type { Env } from "../../config/env.ts"
import { toMessagesError } from "../../formats/messages/errors.ts"
import { findFile } from "../../files/store.ts"
import { openStored } from "../../files/stored-file.ts"
import { GatewayError } from "../../errors/errors.ts"
import { isObject, type Json, parseJson } from "../../support/text/json.ts"
import { NOT_RUN_CODES } from "../batch.ts"
import { linesOf } from "../input.ts"
import type { BatchRow } from "../table.ts"

/** Results may be longer than requests: a response may have 16 MiB. */
const MAX_RESULT_BYTES = 17 * 1024 * 1024
/** UTF-16 units of short results that are sent together. */
const CHUNK_LENGTH = 65_536

/** The results of a batch as JSON lines: succeeded requests first. Throws 404 if its files were deleted. */
export async function resultsOf(row: BatchRow, env: Env): Promise<ReadableStream<Uint8Array>> {
  const { status, inputFileId, outputFileId, errorFileId, errors } = row
  const reason = errors[0]?.message ?? "The batch failed."
  const ids = status === "failed" ? [inputFileId] : [outputFileId, errorFileId]
  const files = await Promise.all(ids.flatMap((id) => (id === null ? [] : [open(row, id, env)])))
  const toResult = status === "failed" ? (line: Json) => toFailed(line, reason) : toMessageResult
  return toStream(results(files, toResult))
}

async function open({ organizationId, workspaceId }: BatchRow, id: string, env: Env): Promise<ReadableStream> {
  const scope = { organizationId, workspaceId, internId: null, onlyKey: null, mayExport: false }
  const file = await findFile(env.DB, scope, id)
  if (!file) throw new GatewayError("not_found", "The results of this batch were deleted.")
  return (await openStored(env.FILES, file)).body
}

async function* results(
  files: readonly ReadableStream<Uint8Array>[],
  toResult: (line: Json) => Json,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  let pending = ""
  for (const file of files) {
    for await (const { text } of linesOf(file, MAX_RESULT_BYTES)) {
      const line = text === undefined ? undefined : parseJson(text)
      if (isObject(line)) pending += `${JSON.stringify(toResult(line))}\n`
      if (pending.length < CHUNK_LENGTH) continue
      yield encoder.encode(pending)
      pending = ""
    }
  }
  if (pending !== "") yield encoder.encode(pending)
}

function toStream(content: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = content[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await iterator.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: async () => void (await iterator.return?.()),
  })
}

/** A line of an output or error file in the Messages format. */
export function toMessageResult(line: Json): Json {
  const { custom_id: customId, response, error } = line
  const { status_code: status, body, request_id: requestId } = isObject(response) ? response : {}
  const code = isObject(error) ? error["code"] : undefined
  if (code === NOT_RUN_CODES.cancelled) return { custom_id: customId, result: { type: "canceled" } }
  if (code === NOT_RUN_CODES.expired) return { custom_id: customId, result: { type: "expired" } }
  if (typeof status === "number" && status < 300) {
    return { custom_id: customId, result: { type: "succeeded", message: body } }
  }
  const message = messageIn(body) ?? messageIn({ error }) ?? "The request failed."
  const failed = toMessagesError(typeof status === "number" ? status : 500, message)
  const id = typeof requestId === "string" && requestId !== "" ? requestId : null
  return { custom_id: customId, result: { type: "errored", error: { ...failed, request_id: id } } }
}

function toFailed({ custom_id: customId }: Json, reason: string): Json {
  const error = { ...toMessagesError(500, reason), request_id: null }
  return { custom_id: customId, result: { type: "errored", error } }
}

function messageIn(body: unknown): string | undefined {
  const error = isObject(body) && isObject(body["error"]) ? body["error"] : {}
  return typeof error["message"] === "string" ? error["message"] : undefined
}
