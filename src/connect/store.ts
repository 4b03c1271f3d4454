import { and, eq, gt, lte, sql } from "drizzle-orm"
import type { AuditEntry } from "../audit/entry.ts"
import { auditIfChanged } from "../audit/store.ts"
import { openDb, selectRow } from "../support/db.ts"
import { connectLinks, type ConnectLinkRow } from "./table.ts"

const isOpen = (hash: string, now: number) => and(eq(connectLinks.hash, hash), gt(connectLinks.expiresAt, now))

const keyWorks = (keyHash: unknown, now: number) => sql`EXISTS (SELECT 1 FROM api_keys k
  WHERE k.hash = ${keyHash} AND k.disabled = 0 AND k.deleted_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ${now}))`

/** False if the key no longer works, or already has `maxLinks` links. */
export async function insertLink(
  binding: D1Database,
  { row, most: maxLinks, entry }: { row: ConnectLinkRow; most: number; entry: AuditEntry },
): Promise<boolean> {
  const db = openDb(binding)
  const { keyHash, createdAt: now } = row
  const condition = sql`${keyWorks(keyHash, now)} AND
    (SELECT count(*) FROM connect_links WHERE key_hash = ${keyHash} AND expires_at > ${now}) < ${maxLinks}`
  const [inserted] = await db.batch([
    db.insert(connectLinks).select(selectRow(connectLinks, row, condition)),
    auditIfChanged(db, entry),
  ])
  return inserted.meta.changes > 0
}

/** A link that can be redeemed. The only lookup without an organization, because the token identifies it. */
export async function findOpenLink(db: D1Database, hash: string, now: number): Promise<ConnectLinkRow | undefined> {
  const [row] = await openDb(db).select().from(connectLinks).where(isOpen(hash, now))
  return row
}

/** Deletes the link, so that it works once. False if it was redeemed or has expired, or its key no longer works. */
export async function takeLink(
  binding: D1Database,
  { hash, now, entry }: { hash: string; now: number; entry: AuditEntry },
): Promise<boolean> {
  const db = openDb(binding)
  const [deleted] = await db.batch([
    db.delete(connectLinks).where(and(isOpen(hash, now), keyWorks(connectLinks.keyHash, now))),
    auditIfChanged(db, entry),
  ])
  return deleted.meta.changes > 0
}

export async function pruneLinks(db: D1Database, now: number): Promise<void> {
  await openDb(db).delete(connectLinks).where(lte(connectLinks.expiresAt, now))
}
