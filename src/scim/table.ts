import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core"
import type { StoredOf } from "../support/db.ts"

export const scimDirectories = sqliteTable("scim_directories", {
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  name: text("name").notNull(),
  tokenHash: text("token_hash").notNull(),
  createdAt: integer("created_at").notNull(),
  pullUrl: text("pull_url"),
  pullWorkspaceId: text("pull_workspace_id"),
  pullSealed: text("pull_sealed"),
  pullVersion: text("pull_version"),
  pullLabel: text("pull_label"),
  previousTokenHash: text("previous_token_hash"),
  previousTokenExpiresAt: integer("previous_token_expires_at"),
})

/**
 * `pull_*`: URL of a pulled directory, null for one that pushes; and its token, sealed with its own version under a
 * workspace's key. `previous_token_*`: a former token for pushes, valid until the time in milliseconds.
 */
export type DirectoryRow = StoredOf<typeof scimDirectories>

export const scimUsers = sqliteTable(
  "scim_users",
  {
    organizationId: text("organization_id").notNull(),
    id: text("id").notNull(),
    directoryId: text("directory_id").notNull(),
    userName: text("user_name").notNull(),
    externalId: text("external_id"),
    active: integer("active", { mode: "boolean" }).notNull(),
    email: text("email"),
    firstName: text("first_name"),
    lastName: text("last_name"),
    attributes: text("attributes").notNull(),
    version: integer("version").notNull().default(1),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
    remoteId: text("remote_id"),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.id] })],
)

export const scimGroups = sqliteTable("scim_groups", {
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  directoryId: text("directory_id").notNull(),
  displayName: text("display_name").notNull(),
  externalId: text("external_id"),
  version: integer("version").notNull().default(1),
  stamp: text("stamp").notNull(),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
  deletedAt: integer("deleted_at"),
  remoteId: text("remote_id"),
})

export const scimGroupMembers = sqliteTable(
  "scim_group_members",
  {
    groupId: text("group_id").notNull(),
    userId: text("user_id").notNull(),
    organizationId: text("organization_id").notNull(),
  },
  (table) => [primaryKey({ columns: [table.groupId, table.userId] })],
)

export const scimGroupMappings = sqliteTable("scim_group_mappings", {
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  scimGroupId: text("scim_group_id").notNull(),
  workspaceId: text("workspace_id").notNull(),
  role: text("role", { enum: ["admin", "member"] }).notNull(),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
})

export const scimPulled = sqliteTable(
  "scim_pulled",
  {
    jobId: text("job_id").notNull(),
    kind: text("kind", { enum: ["users", "groups"] }).notNull(),
    remoteId: text("remote_id").notNull(),
    newId: text("new_id").notNull(),
    name: text("name").notNull(),
    externalId: text("external_id"),
    active: integer("active"),
    email: text("email"),
    firstName: text("first_name"),
    lastName: text("last_name"),
    attributes: text("attributes"),
    members: text("members"),
  },
  (table) => [primaryKey({ columns: [table.jobId, table.kind, table.remoteId] })],
)

export const scimSyncJobs = sqliteTable("scim_sync_jobs", {
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  status: text("status", { enum: ["queued", "running", "succeeded", "failed"] }).notNull(),
  phase: text("phase", { enum: ["pull", "users", "groups", "leftovers"] }).notNull(),
  position: text("position").notNull(),
  pullCursor: text("pull_cursor"),
  syncedGroups: integer("synced_groups").notNull().default(0),
  deletedGroups: integer("deleted_groups").notNull().default(0),
  errorMessage: text("error_message"),
  leasedUntil: integer("leased_until").notNull().default(0),
  createdAt: integer("created_at").notNull(),
  startedAt: integer("started_at"),
  finishedAt: integer("finished_at"),
})
