/** Returns the hashes that belong to valid keys. */
export function findKnownKeys(db: D1Database, hashes: readonly string[]): Promise<Set<string>> {
  const sql = `SELECT hash FROM api_keys WHERE hash ${IN_LIST} AND disabled = 0 AND deleted_at IS NULL`
  return listHashes(db, sql, hashes)
}

/** The valid ones of these pairs of an intern's id and the hash of a join token, separated by a space. */
export async function findKnownJoinTokens(db: D1Database, pairs: readonly string[]): Promise<Set<string>> {
  const ids = pairs.map((pair) => pair.split(" ", 1)[0] ?? "")
  const { results } = await db
    .prepare(
      "SELECT id, join_token_hash AS hash FROM interns WHERE id IN (SELECT value FROM json_each(?)) AND join_token_hash IS NOT NULL",
    )
    .bind(JSON.stringify(ids))
    .all<{ id: string; hash: string }>()
  return new Set(results.map(({ id, hash }) => `${id} ${hash}`))
}

/** Returns the hashes that belong to tokens of directories, or to former tokens that are still valid. */
export async function findKnownDirectories(
  db: D1Database,
  hashes: readonly string[],
  now: number,
): Promise<Set<string>> {
  const { results } = await db
    .prepare(
      `SELECT token_hash AS hash FROM scim_directories WHERE token_hash IN (SELECT value FROM json_each(?1))
       UNION SELECT previous_token_hash FROM scim_directories
       WHERE previous_token_hash IN (SELECT value FROM json_each(?1)) AND previous_token_expires_at > ?2`,
    )
    .bind(JSON.stringify(hashes), now)
    .all<{ hash: string }>()
  return new Set(results.map(({ hash }) => hash))
}

/** Returns the hashes that belong to tokens of unused links. */
export function findKnownConnectLinks(db: D1Database, hashes: readonly string[]): Promise<Set<string>> {
  return listHashes(db, `SELECT hash FROM connect_links WHERE hash ${IN_LIST}`, hashes)
}

/** Returns the hashes that belong to app codes that were not exchanged. */
export function findKnownCodes(db: D1Database, hashes: readonly string[]): Promise<Set<string>> {
  return listHashes(db, `SELECT hash FROM oauth_codes WHERE hash ${IN_LIST} AND key_hash IS NULL`, hashes)
}

const IN_LIST = "IN (SELECT value FROM json_each(?))"

async function listHashes(db: D1Database, sql: string, hashes: readonly string[]): Promise<Set<string>> {
  const { results } = await db.prepare(sql).bind(JSON.stringify(hashes)).all<{ hash: string }>()
  return new Set(results.map(({ hash }) => hash))
}
