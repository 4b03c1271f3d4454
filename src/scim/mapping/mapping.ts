import type * as z from "zod"
import type { StoredOf } from "../../support/db.ts"
import { toTimestamp } from "../../support/time/time.ts"
import type { ScimGroup, ScimGroupMapping, ScimSyncJob } from "./mapping-schemas.ts"
import type { SyncJobRow } from "../sync/sync-job.ts"
import type { scimGroupMappings, scimGroups } from "../table.ts"

/** Maps a group to a workspace: members of the group are members of the workspace. */
export type MappingRow = StoredOf<typeof scimGroupMappings>

export function toMapping(row: MappingRow): z.infer<typeof ScimGroupMapping> {
  return { ...row, created_at: toTimestamp(row.created_at), updated_at: toTimestamp(row.updated_at) }
}

/** A group in the format of the API. */
export type ListedGroup = Pick<
  StoredOf<typeof scimGroups>,
  "id" | "organization_id" | "display_name" | "external_id" | "created_at" | "updated_at"
>

export function toListedGroup(row: ListedGroup): z.infer<typeof ScimGroup> {
  return { ...row, created_at: toTimestamp(row.created_at), updated_at: toTimestamp(row.updated_at) }
}

/** The number of synced groups is set while the job runs, the number of deleted ones when it ends. */
export function toSyncJob(row: SyncJobRow): z.infer<typeof ScimSyncJob> {
  const isDone = row.status === "succeeded"
  return {
    id: row.id,
    status: row.status,
    synced_groups: isDone || row.status === "running" ? row.synced_groups : null,
    deleted_groups: isDone ? row.deleted_groups : null,
    error_message: row.error_message,
    created_at: toTimestamp(row.created_at),
    started_at: row.started_at === null ? null : toTimestamp(row.started_at),
    finished_at: row.finished_at === null ? null : toTimestamp(row.finished_at),
  }
}
