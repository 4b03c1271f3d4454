import type { StoredOf } from "../../support/db.ts"
import type { scimSyncJobs } from "../table.ts"

/**
 * `position`: the last id that is done in this phase. `pull_cursor`: JSON of a Cursor (pull.ts); null until the
 * directory after `position` is started.
 */
export type SyncJobRow = StoredOf<typeof scimSyncJobs>

/** Why a directory could not be read; the message is shown to the user who started the job. */
export class PullFailure extends Error {
  override readonly name = "PullFailure"
}
