import { logError } from "../support/log.ts"
import { readChangesFrom } from "./policy-changes-store.ts"

/** Maximum delay until a change in the database takes effect in every isolate. */
export const CHANGE_DELAY_MS = 5_000
/** Age at which a request reads the changes in the background, so that under traffic no request waits for them. */
const REFRESH_MS = 4_000
/** After this time another request reads the changes, since the one that reads them may have been cancelled. */
const READ_TIMEOUT_MS = 1_000
const MAX_CHANGES = 1_000
const MAX_ORGANIZATIONS = 10_000

/** Data of an organization, as read from the database. */
export type Snapshot = {
  organizationId: string
  /** The newest revision in the same transaction. */
  revision: number
  /** Epoch milliseconds when the read started. */
  readAt: number
}

/**
 * The policy changes that an isolate knows. What was read at a revision is valid while no later change of its
 * organization is known, so that one statement every few seconds replaces reading each key again.
 */
export class PolicyChanges {
  /** The newest known revision. Undefined before the first read. */
  #revision: number | undefined
  /** Changes up to this revision were dropped: earlier snapshots are invalid. */
  #droppedUpTo = 0
  /** Snapshots up to this time are of a database that was restored. Epoch milliseconds. */
  #restoredAt = 0
  /** Changes before this time are known. Epoch milliseconds. */
  #knownAt = 0
  #readingSince = 0
  readonly #byOrganization = new Map<string, number>()

  /** Whether the known changes are too old to be relied on. */
  isStale(now: number): boolean {
    return this.#revision === undefined || !isWithin(this.#knownAt, now, CHANGE_DELAY_MS)
  }

  /** Whether a request should read the changes in the background. */
  isDue(now: number): boolean {
    const isFresh = isWithin(this.#knownAt, now, REFRESH_MS) || isWithin(this.#readingSince, now, READ_TIMEOUT_MS)
    return this.#revision !== undefined && !isFresh
  }

  /** Whether no later change of the snapshot's organization is known. */
  isUnchanged({ organizationId, revision, readAt }: Snapshot): boolean {
    const isKnown = revision >= this.#droppedUpTo && readAt > this.#restoredAt
    return isKnown && revision >= (this.#byOrganization.get(organizationId) ?? 0)
  }

  /** The first snapshot determines from which revision on changes are read. */
  startFrom({ revision, readAt }: Snapshot): void {
    if (this.#revision !== undefined) return
    this.#revision = this.#droppedUpTo = revision
    this.#knownAt = readAt
  }

  /** Reads the changes since the last read. `now`: epoch milliseconds. */
  async read(db: D1Database, now: number): Promise<void> {
    const revision = this.#revision
    if (revision === undefined) return
    this.#readingSince = now
    const rows = await readChangesFrom(db, revision, MAX_CHANGES)
    if (rows.length === 0 && revision > 0) return this.#startAgain(now)
    for (const { organizationId, revision } of rows) this.#add(organizationId, revision)
    const isLast = rows.length < MAX_CHANGES
    if (!isLast || this.#byOrganization.size > MAX_ORGANIZATIONS) this.#drop()
    // A later read may have ended before this one, unless the clock was set back.
    if (isLast && (this.#knownAt < now || this.#knownAt > Date.now())) this.#knownAt = now
  }

  #add(organizationId: string, revision: number): void {
    this.#revision = Math.max(this.#revision ?? 0, revision)
    this.#byOrganization.set(organizationId, Math.max(this.#byOrganization.get(organizationId) ?? 0, revision))
  }

  #drop(): void {
    this.#droppedUpTo = this.#revision ?? 0
    this.#byOrganization.clear()
  }

  /** The newest revision is gone: the database was restored to an earlier state. */
  #startAgain(now: number): void {
    this.#revision = undefined
    this.#restoredAt = Math.max(now, Date.now())
    this.#byOrganization.clear()
  }
}

function isWithin(at: number, now: number, ms: number): boolean {
  return at <= now && now < at + ms
}

/** The changes that this isolate knows. */
export const knownChanges = new PolicyChanges()

/** Reads the changes in the background when they are due. `later`: extends the life of the isolate. */
export function refreshChanges(db: D1Database, later: (work: Promise<unknown>) => void, now: number): void {
  if (!knownChanges.isDue(now)) return
  const reading = knownChanges.read(db, now)
  later(reading.catch((cause: unknown) => logError("policy changes were not read", {}, cause)))
}
