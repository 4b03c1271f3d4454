/** A row of scim_sync_jobs. `position`: the last id that is done in this phase. */
export type SyncJobRow = {
  id: string
  organization_id: string
  status: "queued" | "running" | "succeeded" | "failed"
  phase: "pull" | "users" | "groups" | "leftovers"
  position: string
  /** JSON of a Cursor (pull.ts); null where the directory after `position` is not begun. */
  pull_cursor: string | null
  synced_groups: number
  deleted_groups: number
  error_message: string | null
  leased_until: number
  created_at: number
  started_at: number | null
  finished_at: number | null
}

/** Why a directory could not be read, in words for whoever started the job. */
export class PullFailure extends Error {
  override readonly name = "PullFailure"
}
