import * as z from "zod"

/** Ids of files stored by the gateway; file ids of providers have other forms. */
const GATEWAY_FILE_ID = /^file_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export function isGatewayFileId(id: unknown): id is string {
  return typeof id === "string" && GATEWAY_FILE_ID.test(id)
}

/** Id of a file in a content part: one of the gateway, whose data is sent instead, or one of the provider. */
export const fileId = z.string({ error: "must be a string" })
