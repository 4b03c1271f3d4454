import type { AuditEntry } from "../audit/entry.ts"
import { auditIfChanged } from "../audit/store.ts"
import type { Page } from "../http/schema.ts"
import type { PresetConfig, PresetContent } from "./config.ts"
import type { ActivePreset, PresetRow, PresetStatus, VersionRow } from "./preset.ts"
import type { PresetChange } from "./schemas.ts"
import { type Counted, toPage } from "../support/rows.ts"

const COLUMNS =
  "id, organization_id, workspace_id, slug, name, description, status, status_updated_at, designated_version_id, " +
  "creator_user_id, created_at, updated_at"
const VERSION_COLUMNS = "id, preset_id, version, config, system_prompt, creator_id, created_at"

/** Where a preset is looked for. */
export type Place = { organizationId: string; workspaceId: string }
const IN_PLACE = "organization_id = ?1 AND workspace_id = ?2 AND slug = ?3"
const THE_PRESET = `preset_id = (SELECT id FROM presets WHERE ${IN_PLACE})`
const DESIGNATED = `SELECT ${VERSION_COLUMNS} FROM preset_versions
  WHERE id = (SELECT designated_version_id FROM presets WHERE ${IN_PLACE})`

export type Found = { preset: PresetRow; version: VersionRow | undefined }

/** With its designated version. */
export async function findPreset(db: D1Database, place: Place, slug: string): Promise<Found | undefined> {
  const scope = [place.organizationId, place.workspaceId, slug]
  const [presets, versions] = await db.batch([
    db.prepare(`SELECT ${COLUMNS} FROM presets WHERE ${IN_PLACE}`).bind(...scope),
    db.prepare(DESIGNATED).bind(...scope),
  ])
  const preset = presets?.results[0] as PresetRow | undefined
  return preset && { preset, version: versions?.results[0] as VersionRow | undefined }
}

/** What a call needs of a preset, in one statement. */
export async function findLivePreset(db: D1Database, place: Place, slug: string): Promise<ActivePreset | undefined> {
  const row = await db
    .prepare(
      `SELECT p.id, p.status, v.config, v.system_prompt FROM presets p JOIN preset_versions v ON v.id = p.designated_version_id
       WHERE p.organization_id = ?1 AND p.workspace_id = ?2 AND p.slug = ?3`,
    )
    .bind(place.organizationId, place.workspaceId, slug)
    .first<{ id: string; status: PresetStatus; config: string; system_prompt: string | null }>()
  if (!row) return undefined
  const systemPrompt = row.system_prompt
  const bytes = new TextEncoder().encode(row.config + JSON.stringify(systemPrompt ?? "")).byteLength
  return { id: row.id, slug, status: row.status, config: JSON.parse(row.config) as PresetConfig, systemPrompt, bytes }
}

/** The most recently updated first. */
export async function listPresets(
  db: D1Database,
  { organizationId, workspaceId }: Place,
  page: Page,
): Promise<{ rows: PresetRow[]; total: number }> {
  const where = "organization_id = ? AND workspace_id = ?"
  return toPage(
    await db.batch<Counted<PresetRow>>([
      db
        .prepare(`SELECT ${COLUMNS} FROM presets WHERE ${where} ORDER BY updated_at DESC, id LIMIT ? OFFSET ?`)
        .bind(organizationId, workspaceId, page.limit, page.offset),
      db.prepare(`SELECT count(*) AS total FROM presets WHERE ${where}`).bind(organizationId, workspaceId),
    ]),
  )
}

/** The oldest first. Undefined where there is no such preset. */
export async function listVersions(
  db: D1Database,
  place: Place,
  slug: string,
  page: Page,
): Promise<{ rows: VersionRow[]; total: number } | undefined> {
  const scope = [place.organizationId, place.workspaceId, slug]
  const versions = toPage(
    await db.batch<Counted<VersionRow>>([
      db
        .prepare(
          `SELECT ${VERSION_COLUMNS} FROM preset_versions WHERE ${THE_PRESET} ORDER BY version LIMIT ?4 OFFSET ?5`,
        )
        .bind(...scope, page.limit, page.offset),
      db.prepare(`SELECT count(*) AS total FROM preset_versions WHERE ${THE_PRESET}`).bind(...scope),
    ]),
  )
  // A preset has a version from its first moment.
  return versions.total === 0 ? undefined : versions
}

export async function findVersion(
  db: D1Database,
  place: Place,
  slug: string,
  version: number,
): Promise<VersionRow | undefined> {
  const row = await db
    .prepare(`SELECT ${VERSION_COLUMNS} FROM preset_versions WHERE ${THE_PRESET} AND version = ?4`)
    .bind(place.organizationId, place.workspaceId, slug, version)
    .first<VersionRow>()
  return row ?? undefined
}

type Made = {
  presetId: string
  versionId: string
  slug: string
  creatorUserId: string | null
  creatorId: string
  now: number
}

/**
 * Makes a preset, or a new version of the one with this slug, which is its designated version then. Whoever comes second
 * makes the second version. Undefined where the preset is archived or the workspace gone.
 */
export async function putPreset(
  db: D1Database,
  place: Place,
  made: Made,
  { config, systemPrompt }: PresetContent,
  entry: AuditEntry,
): Promise<Found | undefined> {
  const { presetId, versionId, slug, creatorUserId, creatorId, now } = made
  const scope = [place.organizationId, place.workspaceId, slug]
  const [, , inserted, presets] = await db.batch([
    db
      .prepare(
        `INSERT INTO presets (id, organization_id, workspace_id, slug, name, creator_user_id, created_at, updated_at)
         SELECT ?4, ?1, ?2, ?3, ?3, ?5, ?6, ?6
         WHERE EXISTS (SELECT 1 FROM workspaces WHERE organization_id = ?1 AND id = ?2 AND deleted_at IS NULL)
         ON CONFLICT (workspace_id, slug) DO UPDATE SET updated_at = excluded.updated_at WHERE status <> 'archived'`,
      )
      .bind(...scope, presetId, creatorUserId, now),
    auditIfChanged(db, entry),
    db
      .prepare(
        `INSERT INTO preset_versions (id, preset_id, version, config, system_prompt, creator_id, created_at)
         SELECT ?4, p.id, coalesce((SELECT max(version) FROM preset_versions v WHERE v.preset_id = p.id), 0) + 1,
           ?5, ?6, ?7, ?8
         FROM presets p JOIN workspaces w ON w.id = p.workspace_id AND w.deleted_at IS NULL
         WHERE p.organization_id = ?1 AND p.workspace_id = ?2 AND p.slug = ?3 AND p.status <> 'archived'
         RETURNING ${VERSION_COLUMNS}`,
      )
      .bind(...scope, versionId, JSON.stringify(config), systemPrompt, creatorId, now),
    db
      .prepare(
        `UPDATE presets SET designated_version_id = ?4
         WHERE ${IN_PLACE} AND EXISTS (SELECT 1 FROM preset_versions WHERE id = ?4) RETURNING ${COLUMNS}`,
      )
      .bind(...scope, versionId),
  ])
  const preset = presets?.results[0] as PresetRow | undefined
  return preset && { preset, version: inserted?.results[0] as VersionRow | undefined }
}

/** The changed preset, or undefined where it, or the version that it is to have, is not there. */
export async function updatePreset(
  db: D1Database,
  place: Place,
  slug: string,
  change: PresetChange,
  now: number,
  entry: AuditEntry,
): Promise<Found | undefined> {
  const scope = [place.organizationId, place.workspaceId, slug]
  const { name, description, status, designated_version: version } = change
  const [presets, , versions] = await db.batch([
    db
      .prepare(
        `UPDATE presets SET name = coalesce(?4, name), description = iif(?5, ?6, description),
           status_updated_at = iif(?7 IS NULL OR ?7 = status, status_updated_at, ?9), status = coalesce(?7, status),
           designated_version_id = coalesce(
             (SELECT v.id FROM preset_versions v WHERE v.preset_id = presets.id AND v.version = ?8), designated_version_id),
           updated_at = ?9
         WHERE ${IN_PLACE} AND (?8 IS NULL OR EXISTS
           (SELECT 1 FROM preset_versions v WHERE v.preset_id = presets.id AND v.version = ?8)) RETURNING ${COLUMNS}`,
      )
      .bind(
        ...scope,
        name ?? null,
        description === undefined ? 0 : 1,
        description ?? null,
        status ?? null,
        version ?? null,
        now,
      ),
    auditIfChanged(db, entry),
    db.prepare(DESIGNATED).bind(...scope),
  ])
  const preset = presets?.results[0] as PresetRow | undefined
  return preset && { preset, version: versions?.results[0] as VersionRow | undefined }
}
