import * as z from "zod"
import { uuidParam } from "../../http/schema.ts"

const role = z.enum(["admin", "member"], { error: "accepts admin and member" })

export const ScimGroup = z
  .object({
    id: z.string(),
    organization_id: z.string(),
    display_name: z.string(),
    external_id: z.string().nullable(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: "ScimGroup" })
export const ScimGroups = z.object({ data: z.array(ScimGroup), total_count: z.int() }).meta({ id: "ScimGroupList" })

export const ScimGroupMapping = z
  .object({
    id: z.string(),
    scim_group_id: z.string(),
    workspace_id: z.string(),
    organization_id: z.string(),
    role,
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: "ScimGroupMapping" })
export const ScimGroupMappings = z
  .object({ data: z.array(ScimGroupMapping), total_count: z.int() })
  .meta({ id: "ScimGroupMappingList" })

export const NewMapping = z
  .strictObject({
    scim_group_id: uuidParam("a group, as GET /scim/groups lists them"),
    workspace_id: uuidParam("a workspace"),
    role: role.default("member").meta({ description: "Role in the workspace. Of several groups the highest counts." }),
  })
  .meta({ id: "NewScimGroupMapping" })

export const MappingChange = z.strictObject({ role }).meta({ id: "ScimGroupMappingChange" })
export const MappingPath = z.object({ id: uuidParam("a mapping") })

export const MappingRemoval = z.object({
  keep_members: z
    .enum(["true", "false"], { error: "is required: true or false" })
    .meta({ description: "true: members from the mapping stay in the workspace, managed by hand." }),
})

export const ScimSyncJob = z
  .object({
    id: z.string(),
    status: z.enum(["queued", "running", "succeeded", "failed"]),
    synced_groups: z.int().nullable(),
    deleted_groups: z.int().nullable(),
    error_message: z.string().nullable(),
    created_at: z.iso.datetime(),
    started_at: z.iso.datetime().nullable(),
    finished_at: z.iso.datetime().nullable(),
  })
  .meta({ id: "ScimSyncJob" })

export const SyncJobPath = z.object({ id: uuidParam("a sync job") })
