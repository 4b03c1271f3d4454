import * as z from "zod"
import { queryIntegerOr } from "../../http/schema.ts"
import { MAX_LINES } from "../batch.ts"
import { BatchPath, BatchPosition, WorkspaceQuery } from "../schemas.ts"

/** The batch API of Anthropic's Messages format. */

const time = z.string().nullable()
const RFC_3339 = "RFC 3339 timestamp."

export const MessageBatch = z
  .object({
    id: z.string(),
    type: z.literal("message_batch"),
    processing_status: z
      .enum(["in_progress", "canceling", "ended"])
      .meta({ description: "`ended`: each request has a result." }),
    request_counts: z
      .object({
        processing: z.int().meta({ description: "All requests of a batch that has not ended." }),
        succeeded: z.int().meta({ description: "Requests with a message." }),
        errored: z.int().meta({ description: "Requests that failed." }),
        canceled: z.int().meta({ description: "Requests that did not run, since the batch was cancelled." }),
        expired: z.int().meta({ description: "Requests that did not run before the window ended." }),
      })
      .meta({ description: "All requests are `processing` until the batch has ended." }),
    created_at: z.string().meta({ description: RFC_3339 }),
    expires_at: z.string().meta({ description: RFC_3339 }),
    ended_at: time.meta({ description: RFC_3339 }),
    cancel_initiated_at: time.meta({ description: RFC_3339 }),
    archived_at: time.meta({ description: "Always null: results stay until the batch is deleted." }),
    results_url: z.string().nullable().meta({ description: "URL of the results, when the batch has ended." }),
  })
  .meta({ id: "MessageBatch" })

export const MessageBatchPage = z
  .object({
    data: z.array(MessageBatch),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  })
  .meta({ id: "MessageBatchPage" })

const MAX_CUSTOM_ID_LENGTH = 512

export const NewMessageBatch = z
  .object({
    requests: z
      .array(
        z.object({
          custom_id: z
            .string()
            .min(1, "must be a string of 1 to 512 characters")
            .max(MAX_CUSTOM_ID_LENGTH, "must be a string of 1 to 512 characters")
            .meta({ description: "Unique in the batch. Its result has the same." }),
          params: z
            .record(z.string(), z.unknown())
            .meta({ description: "The body of `POST /messages`, without `stream: true`." }),
        }),
      )
      .min(1, "must have at least one request")
      .max(MAX_LINES, `must have at most ${MAX_LINES} requests`),
    provider: z.string().min(1).max(128, "must be at most 128 characters").nullish().meta({
      description:
        "Slug of a provider with batches, as in `POST /batches`. If omitted, each request is an ordinary call.",
    }),
  })
  .meta({ id: "NewMessageBatch" })

export const DeletedMessageBatch = z
  .object({ id: z.string(), type: z.literal("message_batch_deleted") })
  .meta({ id: "DeletedMessageBatch" })

export const MessageBatchPath = z.object({
  message_batch_id: BatchPath.shape.batch_id.meta({ description: "Id of the batch." }),
})

const pageId = (side: string) => BatchPosition.optional().meta({ description: `Id of the batch ${side} the page.` })

export const MessageBatchesQuery = WorkspaceQuery.extend({
  limit: queryIntegerOr(20, 1, 1_000, "must be an integer from 1 to 1000"),
  after_id: pageId("before"),
  before_id: pageId("after"),
})
