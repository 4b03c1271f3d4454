import * as z from "zod"

/** Ids of the gateway's own files; those of providers look otherwise. */
const OWN_FILE_ID = /^file_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The file of a content part: one that was uploaded to the provider. */
export const fileId = z
  .string({ error: "must be a string" })
  .refine(
    (id) => !OWN_FILE_ID.test(id),
    "names a file of the gateway, which models cannot read: send its bytes, or upload it to the provider (POST /files?provider=)",
  )
