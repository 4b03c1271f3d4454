import * as z from "zod"
import { oneOf, queryIntegerOr } from "../http/schema.ts"
import { BATCH_ENDPOINTS, BATCH_PREFIX, BATCH_STATUSES, COMPLETION_WINDOW } from "./batch.ts"
import { EXPIRY_RULE, MAX_EXPIRY_S, MIN_EXPIRY_S } from "../files/upload/upload-fields.ts"
import { hasIdForm, UUID_PATTERN } from "../support/ids.ts"

const second = z.int().nullable()

export const BatchRecord = z
  .object({
    id: z.string(),
    object: z.literal("batch"),
    endpoint: z.string(),
    errors: z
      .object({
        object: z.literal("list"),
        data: z.array(
          z.object({
            code: z.string(),
            message: z.string(),
            param: z.string().nullable(),
            line: z.int().nullable().meta({ description: "Line of the input file, from 1." }),
          }),
        ),
      })
      .nullable(),
    input_file_id: z.string(),
    completion_window: z.literal(COMPLETION_WINDOW),
    status: z.enum(BATCH_STATUSES),
    output_file_id: z.string().nullable().meta({ description: "Responses with a status below 300." }),
    error_file_id: z.string().nullable().meta({ description: "Requests that failed or did not run." }),
    created_at: z.int().meta({ description: "Unix time in seconds, as every time of a batch." }),
    in_progress_at: second,
    expires_at: z.int(),
    finalizing_at: second,
    completed_at: second,
    failed_at: second,
    expired_at: second,
    cancelling_at: second,
    cancelled_at: second,
    request_counts: z.object({ total: z.int(), completed: z.int(), failed: z.int() }),
    usage: z.object({
      input_tokens: z.int(),
      input_tokens_details: z.object({ cached_tokens: z.int() }),
      output_tokens: z.int(),
      output_tokens_details: z.object({ reasoning_tokens: z.int() }),
      total_tokens: z.int(),
    }),
    metadata: z.record(z.string(), z.string()).nullable(),
    provider: z.string().optional().meta({ description: "Provider whose batch API runs the requests." }),
    cost: z.number().optional().meta({
      description: "With `include_cost`: USD charged for the calls of the batch that have it as their session.",
    }),
  })
  .meta({ id: "Batch" })

export const BatchPage = z
  .object({
    object: z.literal("list"),
    data: z.array(BatchRecord),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  })
  .meta({ id: "BatchPage" })

const MAX_PAIRS = 16
const Metadata = z
  .record(
    z.string().max(64, "a name must be at most 64 characters"),
    z.string().max(512, "must be at most 512 characters"),
  )
  .refine((pairs) => Object.keys(pairs).length <= MAX_PAIRS, `must have at most ${MAX_PAIRS} pairs`)

const OutputExpiry = z.strictObject({
  anchor: z.literal("created_at", { error: "accepts created_at" }).meta({ description: "The creation of the file." }),
  seconds: z
    .int(EXPIRY_RULE)
    .min(MIN_EXPIRY_S, EXPIRY_RULE)
    .max(MAX_EXPIRY_S, EXPIRY_RULE)
    .meta({ description: "Seconds after it, from 3600 to 2592000." }),
})

export const NewBatch = z
  .strictObject({
    input_file_id: z
      .string()
      .min(1)
      .max(256, "must be at most 256 characters")
      .regex(/^[\w-]+$/, "must be the id of a file")
      .meta({ description: "A JSONL file that was uploaded with `POST /files`." }),
    endpoint: oneOf(BATCH_ENDPOINTS),
    completion_window: z.literal(COMPLETION_WINDOW, { error: `accepts ${COMPLETION_WINDOW}` }),
    metadata: Metadata.nullish(),
    output_expires_after: OutputExpiry.nullish().meta({
      description: "Deletes the output and error files this long after they were written.",
    }),
    provider: z.string().min(1).max(128, "must be at most 128 characters").nullish().meta({
      description:
        "Slug of a provider with batches: the requests run in its batches, at its batch price and when it has capacity. If omitted, each is an ordinary call.",
    }),
  })
  .meta({ id: "NewBatch" })

export const NoFields = z.strictObject({})

export const BatchPath = z.object({
  batch_id: z
    .string()
    .min(1)
    .max(256, "must be at most 256 characters")
    .regex(/^[\w-]+$/, "must be letters, digits, _ and -"),
})

export const WorkspaceQuery = z.object({
  workspace_id: z
    .uuid("must be the UUID of a workspace")
    .toLowerCase()
    .optional()
    .meta({ description: "Management keys only: another workspace of the organization." }),
})

export const BatchQuery = WorkspaceQuery.extend({
  include_cost: z
    .enum(["true", "false"], { error: "must be true or false" })
    .optional()
    .meta({ description: "Adds `cost`: the sum over the calls so far. Omit it when you poll." }),
})

/** A batch before or after which a page begins. It may be deleted by now. */
export const BatchPosition = z
  .string()
  .refine((id) => hasIdForm(BATCH_PREFIX, id), "must be the id of a batch")
  .meta({ pattern: `^${BATCH_PREFIX}${UUID_PATTERN}$` })

const LIMIT_RULE = "must be an integer from 1 to 100"
export const BatchesQuery = BatchQuery.extend({
  status: oneOf([...BATCH_STATUSES, "unfinished"])
    .optional()
    .meta({ description: "Only batches with this status; `unfinished` has all that have not ended." }),
  limit: queryIntegerOr(20, 1, 100, LIMIT_RULE),
  after: BatchPosition.optional().meta({ description: "Id of the last batch of the previous page." }),
})
