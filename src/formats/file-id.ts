import * as z from "zod"

/** Ids of files stored by the gateway; file ids of providers have other forms. */
const GATEWAY_FILE_ID = /^file_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** File id in a content part: a file that was uploaded to the provider. */
export const fileId = z
  .string({ error: "must be a string" })
  .refine(
    (id) => !GATEWAY_FILE_ID.test(id),
    "is a file of the gateway, which models cannot read: send its bytes, or upload it to the provider (POST /files?provider=)",
  )
