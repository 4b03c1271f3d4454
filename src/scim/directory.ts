import type * as z from "zod"
import { sha256Hex, toBase64Url } from "../support/encoding.ts"
import { newId } from "../support/ids.ts"
import { toTimestamp } from "../support/time.ts"
import type { Directory } from "./schemas.ts"

/** A row of scim_directories. */
export type DirectoryRow = {
  id: string
  organization_id: string
  name: string
  token_hash: string
  created_at: number
}

/** Which directory of whom. */
export type DirectoryId = { id: string; organizationId: string }

/** Where directories push to, outside the interface. */
export const SERVICE_PATH = "/scim/v2"

const PREFIX = "scim-gw-v1-"
/** 256 bits. */
const SECRET_BYTES = 32

/** A directory with its token: the one time that the token is told. */
export function newDirectory(organizationId: string, name: string, now: number): { token: string; row: DirectoryRow } {
  const token = PREFIX + toBase64Url(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)))
  const row = { id: newId(), organization_id: organizationId, name, token_hash: sha256Hex(token), created_at: now }
  return { token, row }
}

/** `url`: of the request, whose host serves the directory, too. */
export function toDirectory(row: DirectoryRow, url: string): z.infer<typeof Directory> {
  return {
    id: row.id,
    name: row.name,
    base_url: new URL(url).origin + SERVICE_PATH,
    created_at: toTimestamp(row.created_at),
  }
}
