import { DAY_MS } from "../support/time/time.ts"
import type * as z from "zod"
import { dayOf, startOf } from "../support/time/day.ts"
import type { Generation } from "../ledger/generation.ts"
import type { Transcript } from "../formats/transcript.ts"
import type { GenerationContent } from "./schemas.ts"

/**
 * Content of calls, for workspaces with content logging. In R2 under the day of the call, so that a day is deleted at
 * once.
 */

/** A longer prompt is not stored. */
const MAX_PROMPT_BYTES = 4_000_000

export type Content = {
  organizationId: string
  workspaceId: string
  messages: unknown[]
  output: Transcript
}

export function toGenerationContent(
  generation: Generation,
  { messages, output }: Content,
): z.infer<typeof GenerationContent> {
  const failed = generation.attempts.filter((attempt) => attempt.status !== null && attempt.status >= 400)
  const isFailure = generation.ending !== "complete" && generation.ending !== "cancelled"
  return {
    input: { messages },
    output: { completion: output.content || output.refusal || null, reasoning: output.reasoning || null },
    error: isFailure
      ? {
          message: `The call ended as ${generation.ending}.`,
          status: generation.status,
          provider_name: generation.provider,
          raw: null,
          previous_errors: failed.map((attempt) => ({
            code: attempt.status ?? 500,
            message: `The provider returned ${attempt.status}.`,
            provider_name: attempt.provider,
            raw: null,
          })),
        }
      : null,
  }
}

const PREFIX = "content/"

type Call = { id: string; createdAt: number }

function keyOf({ id, createdAt }: Call): string {
  return `${PREFIX}${dayOf(createdAt)}/${id}`
}

export async function putContent(files: R2Bucket, call: Call, content: Content): Promise<void> {
  const body = JSON.stringify(content)
  const isTooLong = body.length > MAX_PROMPT_BYTES
  const shortened = { ...content, messages: [{ role: "system", content: "[The prompt is too long to be kept.]" }] }
  await files.put(keyOf(call), isTooLong ? JSON.stringify(shortened) : body)
}

export async function findContent(files: R2Bucket, organizationId: string, call: Call): Promise<Content | undefined> {
  const content = await (await files.get(keyOf(call)))?.json<Content>()
  return content?.organizationId === organizationId ? content : undefined
}

const DELETED_PER_BATCH = 1_000
const MAX_PER_RUN = 20_000

/** Deletes content whose generation is past its retention. `parent`: prefix of the days. */
export async function pruneContents(
  files: R2Bucket,
  now: number,
  retentionDays: number,
  parent = PREFIX,
): Promise<void> {
  const { delimitedPrefixes: days } = await files.list({ prefix: parent, delimiter: "/" })
  const before = now - (now % DAY_MS) - retentionDays * DAY_MS
  let removed = 0
  for (const prefix of days.filter((day) => startOf(day.slice(parent.length, -1)) < before)) {
    while (removed < MAX_PER_RUN) {
      const { objects } = await files.list({ prefix, limit: DELETED_PER_BATCH })
      if (objects.length === 0) break
      await files.delete(objects.map(({ key }) => key))
      removed += objects.length
    }
  }
}
