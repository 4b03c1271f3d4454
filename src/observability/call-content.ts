import type { Transcript } from "../formats/transcript.ts"
import { dayOf } from "../support/time/day.ts"
import { timeOf, uuidOf } from "../support/ids.ts"
import { isObject, type Json, parseStored } from "../support/text/json.ts"

/**
 * Content of calls that a destination needs, stored until delivery. Short content goes to the ledger with the
 * settlement of the call, and stays there until the call is sorted; longer content is an object in R2. A batch that
 * waits for a destination is one object in R2, until it is delivered or deleted as a dead letter.
 */
export type CallContent = {
  input: readonly unknown[]
  output: Transcript
  /** Tool definitions as in the request; absent if there are none. */
  tools?: readonly unknown[]
}

/** Messages and output of a call, before truncation. */
export type CallText = { messages: readonly unknown[]; output: Transcript; tools?: readonly unknown[] }

/** Limit of exported input, in UTF-16 units. */
const MAX_INPUT = 200_000
const MAX_OUTPUT = 200_000
const MAX_TOOLS = 100_000
/** Longer data, such as images, audio and files, is not exported. */
const MAX_DATA_URL = 2_000

/**
 * Limit of content in a settlement, in UTF-16 units: the ledger stores the content of all calls of its organization.
 */
export const MAX_SETTLED_CONTENT = 16_384

export const CALL_CONTENT_PREFIX = "broadcast/"
/** Retention of content: longer than deliveries are retried and dead letters are kept. */
export const CALL_CONTENT_DAYS = 17

/** Grouped by day, so that a day can be deleted at once. `id`: of a generation or a batch; both encode their time. */
function keyOf(id: string): string {
  return `${CALL_CONTENT_PREFIX}${dayOf(timeOf(id))}/${uuidOf(id)}`
}

/** Content to keep of a call: the latest input messages and the start of the output. */
export function toCallContent({ messages, output, tools = [] }: CallText): CallContent {
  const { content, reasoning, refusal, toolCalls } = output
  return {
    input: latest(messages),
    output: {
      content: truncate(content),
      reasoning: truncate(reasoning),
      ...(refusal !== undefined && { refusal: truncate(refusal) }),
      ...(toolCalls && { toolCalls: toolCalls.map((call) => ({ ...call, arguments: truncate(call.arguments) })) }),
    },
    ...(tools.length > 0 && { tools: truncateTools(tools) }),
  }
}

/** Tool definitions that are too long lose their schemas. */
function truncateTools(tools: readonly unknown[]): readonly unknown[] {
  if (JSON.stringify(tools).length <= MAX_TOOLS) return tools
  const short = tools.map((tool) => {
    const { type, name, description } = toDefinition(tool)
    return {
      type,
      name,
      ...(typeof description === "string" && { description: description.slice(0, MAX_DESCRIPTION) }),
    }
  })
  return JSON.stringify(short).length <= MAX_TOOLS ? short : []
}
const MAX_DESCRIPTION = 200

/** A tool in the shape of the OpenTelemetry conventions, from the shape of chat or Responses. */
export function toDefinition(tool: unknown): Json {
  const { function: nested, ...direct }: Json = isObject(tool) ? tool : {}
  return { ...direct, ...(isObject(nested) ? nested : {}) }
}

function latest(messages: readonly unknown[]): unknown[] {
  const newest: string[] = []
  let room = MAX_INPUT
  for (const message of messages.toReversed()) {
    const text = JSON.stringify(message, withoutData)
    if (text.length > room) break
    room -= text.length
    newest.unshift(text)
  }
  const omitted = messages.length - newest.length
  const note = omitted > 0 ? [{ role: "system", content: `[${omitted} earlier or longer messages are left out]` }] : []
  return [...note, ...newest.map((text) => parseStored(text))]
}

function withoutData(_: string, value: unknown): unknown {
  if (typeof value !== "string" || value.length <= MAX_DATA_URL) return value
  const isData = value.startsWith("data:") || /^[\w+/=-]+$/.test(value.slice(0, MAX_DATA_URL))
  return isData ? `[${value.length} characters of data]` : value
}

function truncate(text: string): string {
  return text.length > MAX_OUTPUT ? `${text.slice(0, MAX_OUTPUT)}[…]` : text
}

/** `content`: JSON of CallContent. */
export async function saveCallContent(files: R2Bucket, generationId: string, content: string): Promise<void> {
  await files.put(keyOf(generationId), content)
}

export async function findCallContent(files: R2Bucket, generationId: string): Promise<CallContent | null> {
  return (await (await files.get(keyOf(generationId)))?.json<CallContent>()) ?? null
}

/** Content of a batch by generation id. */
export type CallContentBatch = Record<string, CallContent>

/** `contents`: JSON of CallContent by generation id. */
export async function saveCallContentBatch(
  files: R2Bucket,
  batchId: string,
  contents: ReadonlyMap<string, string>,
): Promise<void> {
  if (contents.size === 0) return
  const members = [...contents].map(([id, content]) => `${JSON.stringify(id)}:${content}`)
  await files.put(keyOf(batchId), `{${members.join(",")}}`)
}

export async function findCallContentBatch(files: R2Bucket, batchId: string): Promise<CallContentBatch> {
  return (await (await files.get(keyOf(batchId)))?.json<CallContentBatch>()) ?? {}
}

/** Keys that R2 deletes in one request. */
const DELETED_PER_BATCH = 1_000

/** `ids`: of generations and batches. */
export async function deleteCallContent(files: R2Bucket, ids: readonly string[]): Promise<void> {
  const keys = ids.map(keyOf)
  for (let at = 0; at < keys.length; at += DELETED_PER_BATCH) await files.delete(keys.slice(at, at + DELETED_PER_BATCH))
}
