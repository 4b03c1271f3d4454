import * as z from "zod"
import { queryIntegerOr, uuidParam } from "../http/schema.ts"

export const FileRecord = z
  .object({
    _shape: z.literal("openrouter"),
    id: z.string(),
    type: z.literal("file"),
    filename: z.string(),
    mime_type: z.string().meta({ description: "Detected from the bytes." }),
    size_bytes: z.int(),
    downloadable: z.boolean().meta({ description: "Whether the gateway made it: uploads cannot be downloaded." }),
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime().optional().meta({ description: "When it is deleted by itself, if it is." }),
  })
  .meta({ id: "File" })

export const FilePage = z
  .object({
    _shape: z.literal("openrouter"),
    data: z.array(FileRecord),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
    cursor: z.string().nullable().meta({ description: "Cursor of the next page; null on the last." }),
  })
  .meta({ id: "FilePage" })

export const FileDeleted = z
  .object({ _shape: z.literal("openrouter"), id: z.string(), type: z.literal("file_deleted") })
  .meta({ id: "FileDeleted" })

/** A record of a vendor's file storage, in the vendor's format. */
export const ProviderFileResponse = z
  .looseObject({ _shape: z.enum(["openai", "anthropic"]) })
  .meta({ id: "ProviderFile" })

export const FilePath = z.object({
  file_id: z
    .string()
    .min(1)
    .max(256, "must be at most 256 characters")
    .regex(/^[\w-]+$/, "must be letters, digits, _ and -"),
})

export const ProviderFilesQuery = z.object({
  workspace_id: uuidParam("a workspace").optional(),
  provider: z
    .enum(["openai", "anthropic"], { error: 'accepts "openai" or "anthropic"' })
    .optional()
    .meta({ description: "Uses the vendor's file storage, with the workspace's BYOK credential for it." }),
})
export type ProviderFilesQuery = z.infer<typeof ProviderFilesQuery>

const LIMIT_RULE = "must be an integer from 1 to 1000"
const cursor = z
  .string()
  .min(1)
  .max(256)
  .regex(/^[\w-]+$/, "must be a cursor of this list")
  .optional()
export const FilesQuery = ProviderFilesQuery.extend({
  limit: queryIntegerOr(100, 1, 1_000, LIMIT_RULE),
  cursor,
  after: cursor,
  after_id: cursor,
  before_id: cursor,
  order: z.enum(["asc", "desc"], { error: 'accepts "asc" or "desc"' }).optional(),
  purpose: z
    .string()
    .regex(/^[\w-]{1,64}$/, "must be a purpose of OpenAI's API")
    .optional()
    .meta({ description: "Only files with this purpose, in the format of OpenAI's API." }),
})
export type FilesQuery = z.infer<typeof FilesQuery>

const instant = z.iso.datetime({ offset: true, error: "must be an ISO 8601 date-time with seconds and Z" })
export const NewExport = z
  .strictObject({
    from: instant.meta({ description: "Start of the range, inclusive." }),
    to: instant.optional().meta({ description: "End of the range, exclusive. Defaults to now." }),
    format: z.enum(["csv", "ndjson"], { error: 'accepts "csv" or "ndjson"' }).default("csv"),
    workspace_id: z
      .uuid("must be the UUID of a workspace")
      .toLowerCase()
      .optional()
      .meta({ description: "One workspace; if omitted, the whole organization." }),
  })
  .meta({ id: "NewExport" })
