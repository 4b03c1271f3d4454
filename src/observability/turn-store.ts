import { and, eq, isNull, lt, sql } from "drizzle-orm"
import type { BroadcastMessage } from "../config/messages.ts"
import { openDb } from "../support/db.ts"
import { parseStored } from "../support/text/json.ts"
import { internTurns } from "./table.ts"
import type { NamedTurn, StoredTurn, TurnRecord } from "./turn.ts"

/**
 * Stores a turn with the name, host and key of its intern, if the workspace has a destination for it. False if it has
 * none, or if the turn is stored already.
 */
export async function insertTurn(db: D1Database, turn: TurnRecord): Promise<boolean> {
  const { meta } = await db
    .prepare(
      `INSERT INTO intern_turns (id, organization_id, workspace_id, record)
       SELECT ?1, i.organization_id, i.workspace_id,
         json_set(?2, '$.keyHash', i.key_hash, '$.internName', i.name, '$.host', i.host)
       FROM interns i WHERE i.id = ?3 AND i.organization_id = ?4 AND i.workspace_id = ?5 AND EXISTS (
         SELECT 1 FROM destinations d JOIN workspaces w ON w.id = d.workspace_id
           AND json_extract(w.settings, '$.is_observability_broadcast_enabled') = 1
         WHERE d.enabled = 1 AND d.deleted_at IS NULL AND d.organization_id = ?4 AND d.workspace_id = ?5)
       ON CONFLICT DO NOTHING`,
    )
    .bind(turn.id, JSON.stringify(turn), turn.internId, turn.organizationId, turn.workspaceId)
    .run()
  return meta.changes > 0
}

/** The stored turns among these ids, by time. */
export async function listTurns(db: D1Database, organizationId: string, ids: readonly string[]): Promise<NamedTurn[]> {
  if (ids.length === 0) return []
  const { results } = await db
    .prepare(
      `SELECT t.record, k.name FROM intern_turns t LEFT JOIN api_keys k ON k.hash = t.record ->> 'keyHash'
       WHERE t.organization_id = ? AND t.id IN (SELECT value FROM json_each(?)) ORDER BY t.id`,
    )
    .bind(organizationId, JSON.stringify(ids))
    .all<{ record: string; name: string | null }>()
  return results.map(({ record, name }) => ({ turn: parseStored<StoredTurn>(record), keyName: name }))
}

export async function recordDistributed(
  db: D1Database,
  organizationId: string,
  ids: readonly string[],
  now: number,
): Promise<void> {
  if (ids.length === 0) return
  await openDb(db)
    .update(internTurns)
    .set({ sortedAt: now })
    .where(
      and(
        eq(internTurns.organizationId, organizationId),
        sql`${internTurns.id} IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`,
      ),
    )
}

type WorkspaceScope = { organizationId: string; workspaceId: string }

export function toMessage(
  { organizationId, workspaceId }: WorkspaceScope,
  id: string,
  since: number,
): BroadcastMessage {
  return { kind: "calls", organizationId, workspaceId, generationIds: [id], since }
}

/** Turns of all organizations that ended before `before` and whose queue message was lost. */
export async function listUnsorted(
  db: D1Database,
  before: string,
  limit: number,
): Promise<(WorkspaceScope & { id: string })[]> {
  const { id, organizationId, workspaceId } = internTurns
  return openDb(db)
    .select({ id, organizationId, workspaceId })
    .from(internTurns)
    .where(and(isNull(internTurns.sortedAt), lt(id, before)))
    .orderBy(id)
    .limit(limit)
}

/** Deletes turns of all organizations that ended before `before`. */
export async function pruneTurns(db: D1Database, before: string): Promise<void> {
  await openDb(db).delete(internTurns).where(lt(internTurns.id, before))
}
