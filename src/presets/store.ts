import { and, count, desc, eq, ne, type SQL, sql } from "drizzle-orm"
import { NEWEST_REVISION } from "../access/policy-changes-store.ts"
import type { AuditEntry } from "../audit/entry.ts"
import { auditIfChanged } from "../audit/store.ts"
import type { Page, Search } from "../http/schema.ts"
import { containsText, type Db, openDb, selectRow } from "../support/db.ts"
import { toCountedPage } from "../support/rows.ts"
import type { PresetConfig, PresetContent } from "./config.ts"
import type { ActivePreset } from "./preset.ts"
import type { PresetChange } from "./schemas.ts"
import { type NewPresetRow, type PresetRow, presets, presetVersions, type VersionRow } from "./table.ts"

/** The workspace of a preset. */
export type WorkspaceScope = { organizationId: string; workspaceId: string }

const isInWorkspace = ({ organizationId, workspaceId }: WorkspaceScope) =>
  and(eq(presets.organizationId, organizationId), eq(presets.workspaceId, workspaceId))
const isPreset = (scope: WorkspaceScope, slug: string) => and(isInWorkspace(scope), eq(presets.slug, slug))
const isOfPreset = (scope: WorkspaceScope, slug: string) =>
  sql`${presetVersions.presetId} = (SELECT ${presets.id} FROM ${presets} WHERE ${isPreset(scope, slug)})`

const designated = (db: Db, scope: WorkspaceScope, slug: string) =>
  db
    .select()
    .from(presetVersions)
    .where(
      sql`${presetVersions.id} =
        (SELECT ${presets.designatedVersionId} FROM ${presets} WHERE ${isPreset(scope, slug)})`,
    )

export type PresetWithVersion = { preset: PresetRow; version: VersionRow | undefined }

/** With its designated version. */
export async function findPreset(
  binding: D1Database,
  scope: WorkspaceScope,
  slug: string,
): Promise<PresetWithVersion | undefined> {
  const db = openDb(binding)
  const [[preset], [version]] = await db.batch([
    db.select().from(presets).where(isPreset(scope, slug)),
    designated(db, scope, slug),
  ])
  return preset && { preset, version }
}

/** The part of a preset that calls need, and the policy revision that it was read at, in one statement. */
export async function findLivePreset(
  db: D1Database,
  scope: WorkspaceScope,
  slug: string,
): Promise<{ preset: ActivePreset; revision: number } | undefined> {
  const [row] = await openDb(db)
    .select({
      id: presets.id,
      status: presets.status,
      config: presetVersions.config,
      systemPrompt: presetVersions.systemPrompt,
      revision: sql.raw(NEWEST_REVISION).mapWith(Number),
    })
    .from(presets)
    .innerJoin(presetVersions, eq(presetVersions.id, presets.designatedVersionId))
    .where(isPreset(scope, slug))
  if (!row) return undefined
  const bytes = new TextEncoder().encode(row.config + JSON.stringify(row.systemPrompt ?? "")).byteLength
  const { revision, ...stored } = row
  return { preset: { ...stored, slug, config: JSON.parse(row.config) as PresetConfig, bytes }, revision }
}

/** The most recently updated first. */
export async function listPresets(
  binding: D1Database,
  scope: WorkspaceScope,
  page: Page & Search,
): Promise<{ rows: PresetRow[]; total: number }> {
  const db = openDb(binding)
  const where = and(isInWorkspace(scope), containsText(page.q, [presets.slug, presets.name, presets.description]))
  return toCountedPage(
    await db.batch([
      db
        .select()
        .from(presets)
        .where(where)
        .orderBy(desc(presets.updatedAt), presets.id)
        .limit(page.limit)
        .offset(page.offset),
      db.select({ total: count() }).from(presets).where(where),
    ]),
  )
}

/** Oldest first. Undefined if there is no such preset. */
export async function listVersions(
  binding: D1Database,
  scope: WorkspaceScope,
  slug: string,
  page: Page,
): Promise<{ rows: VersionRow[]; total: number } | undefined> {
  const db = openDb(binding)
  const where = isOfPreset(scope, slug)
  const versions = toCountedPage(
    await db.batch([
      db
        .select()
        .from(presetVersions)
        .where(where)
        .orderBy(presetVersions.version)
        .limit(page.limit)
        .offset(page.offset),
      db.select({ total: count() }).from(presetVersions).where(where),
    ]),
  )
  // Every preset has at least one version.
  return versions.total === 0 ? undefined : versions
}

export async function findVersion(
  db: D1Database,
  scope: WorkspaceScope,
  slug: string,
  version: number,
): Promise<VersionRow | undefined> {
  const [row] = await openDb(db)
    .select()
    .from(presetVersions)
    .where(and(isOfPreset(scope, slug), eq(presetVersions.version, version)))
  return row
}

type NewVersion = {
  presetId: string
  versionId: string
  slug: string
  creatorUserId: string | null
  creatorId: string
  now: number
}

const workspaceExists = ({ organizationId, workspaceId }: WorkspaceScope): SQL =>
  sql`EXISTS (SELECT 1 FROM workspaces
    WHERE organization_id = ${organizationId} AND id = ${workspaceId} AND deleted_at IS NULL)`

type NewPreset = {
  scope: WorkspaceScope
  made: NewVersion
  content: PresetContent
  entry: AuditEntry
}

/**
 * Creates a preset, or a new designated version if the slug exists; concurrent calls create consecutive versions.
 * Undefined if the preset is archived or the workspace is deleted.
 */
export async function putPreset(
  binding: D1Database,
  { scope, made, content: { config, systemPrompt }, entry }: NewPreset,
): Promise<PresetWithVersion | undefined> {
  const db = openDb(binding)
  const { presetId, versionId, slug, creatorUserId, creatorId, now } = made
  const row: NewPresetRow = {
    id: presetId,
    organizationId: scope.organizationId,
    workspaceId: scope.workspaceId,
    slug,
    name: slug,
    creatorUserId,
    createdAt: now,
    updatedAt: now,
  }
  const nextVersion = sql`coalesce((SELECT max(version) FROM preset_versions v WHERE v.preset_id = ${presets.id}), 0) + 1`
  const [, [version], [preset]] = await db.batch([
    db
      .insert(presets)
      .select(selectRow(presets, row, workspaceExists(scope)))
      .onConflictDoUpdate({
        target: [presets.workspaceId, presets.slug],
        set: { updatedAt: now },
        setWhere: ne(presets.status, "archived"),
      }),
    db
      .insert(presetVersions)
      .select(
        sql`SELECT ${versionId}, ${presets.id}, ${nextVersion}, ${JSON.stringify(config)}, ${systemPrompt}, ${creatorId}, ${now}
          FROM ${presets} WHERE ${isPreset(scope, slug)} AND ${presets.status} <> 'archived' AND ${workspaceExists(scope)}`,
      )
      .returning(),
    db
      .update(presets)
      .set({ designatedVersionId: versionId })
      .where(and(isPreset(scope, slug), sql`EXISTS (SELECT 1 FROM preset_versions WHERE id = ${versionId})`))
      .returning(),
    auditIfChanged(db, entry),
  ])
  return preset && { preset, version }
}

type PresetUpdate = {
  scope: WorkspaceScope
  slug: string
  change: PresetChange
  now: number
  entry: AuditEntry
}

/** The changed preset; undefined if the preset or its new designated version does not exist. */
export async function updatePreset(
  binding: D1Database,
  { scope, slug, change, now, entry }: PresetUpdate,
): Promise<PresetWithVersion | undefined> {
  const db = openDb(binding)
  const { name, description, status, designated_version: version } = change
  const requested = sql`(SELECT v.id FROM preset_versions v WHERE v.preset_id = ${presets.id} AND v.version = ${version ?? null})`
  const statusUpdatedAt = sql`iif(${presets.status} = ${status ?? null}, ${presets.statusUpdatedAt}, ${now})`
  const [[preset], , [found]] = await db.batch([
    db
      .update(presets)
      .set({
        name,
        description,
        status,
        updatedAt: now,
        ...(status !== undefined && { statusUpdatedAt }),
        ...(version !== undefined && { designatedVersionId: requested }),
      })
      .where(and(isPreset(scope, slug), version === undefined ? undefined : sql`${requested} IS NOT NULL`))
      .returning(),
    auditIfChanged(db, entry),
    designated(db, scope, slug),
  ])
  return preset && { preset, version: found }
}
