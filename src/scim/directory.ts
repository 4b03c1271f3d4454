import type * as z from "zod"
import type { AssociatedData } from "../secrets/seal.ts"
import { sha256Hex, toBase64Url } from "../support/text/encoding.ts"
import { newId } from "../support/ids.ts"
import { toTimestamp } from "../support/time/time.ts"
import type { Directory } from "./schemas.ts"
import type { DirectoryRow } from "./table.ts"

/** URL and token of a pulled directory. */
export type PullColumns = {
  pull_url: string
  pull_workspace_id: string
  pull_sealed: string
  pull_version: string
  pull_label: string
}

/** A pulled directory. */
export type PullRow = DirectoryRow & PullColumns

type AadFields = Pick<PullRow, "id" | "pull_workspace_id" | "pull_version">

/** Authenticated context of a sealed token. */
export function tokenAad({ id, pull_workspace_id: workspaceId, pull_version: version }: AadFields): AssociatedData {
  return { kind: "scim-pull", ownerId: id, workspaceId, name: "token", version }
}

export const NO_PULL = {
  pull_url: null,
  pull_workspace_id: null,
  pull_sealed: null,
  pull_version: null,
  pull_label: null,
}

/** A directory and its organization. */
export type DirectoryId = { id: string; organizationId: string }

/** Base path of the SCIM service, outside the API. */
export const SERVICE_PATH = "/scim/v2"

const PREFIX = "scim-gw-v1-"
/** 256 bits. */
const SECRET_BYTES = 32

/** A token for pushes, of which only the hash is stored. */
export function newToken(): { token: string; hash: string } {
  const token = PREFIX + toBase64Url(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)))
  return { token, hash: sha256Hex(token) }
}

/** A directory with its token, which is shown only here. */
export function newDirectory(organizationId: string, name: string, now: number): { token: string; row: DirectoryRow } {
  const { token, hash } = newToken()
  const ids = { id: newId(), organization_id: organizationId }
  const noPrevious = { previous_token_hash: null, previous_token_expires_at: null }
  return { token, row: { ...ids, name, token_hash: hash, created_at: now, ...NO_PULL, ...noPrevious } }
}

/** `url`: of the request; the directory is served at the same host. */
export function toDirectory(row: DirectoryRow, url: string, now: number): z.infer<typeof Directory> {
  const previous = row.previous_token_expires_at
  return {
    id: row.id,
    name: row.name,
    base_url: row.pull_url === null ? new URL(url).origin + SERVICE_PATH : null,
    pull: row.pull_url === null ? null : { url: row.pull_url, label: row.pull_label ?? "" },
    previous_token_expires_at: previous !== null && previous > now ? toTimestamp(previous) : null,
    created_at: toTimestamp(row.created_at),
  }
}
