import * as z from "zod"
import { nameText, PageQuery, textIn } from "../http/schema.ts"
import { PRESET_STATUSES } from "./table.ts"

const workspace = {
  workspace_id: z
    .uuid("must be the UUID of a workspace")
    .toLowerCase()
    .optional()
    .meta({ description: "For management keys; if omitted, the workspace of the key." }),
}
export const PresetQuery = z.object(workspace)
export const PresetPageQuery = PageQuery.extend(workspace)
export const PresetsQuery = PresetPageQuery.extend({ q: textIn("slug, name or description") })

export const SLUG_PATTERN = "[A-Za-z0-9][\\w.~-]{0,127}"
const slug = z
  .string()
  .regex(
    new RegExp(`^${SLUG_PATTERN}$`),
    "must be 1 to 128 letters, digits and - _ . ~, beginning with a letter or digit",
  )
export const PresetPath = z.object({ slug })
export const VersionPath = z.object({
  slug,
  version: z.string().regex(/^[1-9]\d{0,8}$/, "must be the number of a version, from 1"),
})

export const PresetChange = z
  .strictObject({
    name: nameText(128),
    description: z
      .string({ error: "must be a string or null" })
      .max(2_000, "must be at most 2000 characters")
      .nullable(),
    status: z.enum(PRESET_STATUSES, { error: `accepts ${PRESET_STATUSES.join(", ")}` }),
    designated_version: z
      .int({ error: "must be the number of a version" })
      .min(1, "must be the number of a version, from 1")
      .meta({ description: "The version that calls get from now on." }),
  })
  .partial()
  .meta({ id: "PresetChange" })
export type PresetChange = z.infer<typeof PresetChange>

export const PresetVersion = z
  .object({
    id: z.uuid(),
    preset_id: z.uuid(),
    version: z.int(),
    config: z.record(z.string(), z.unknown()).meta({ description: "With the fields of a chat completion request." }),
    system_prompt: z.string().nullable(),
    creator_id: z.string(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: "PresetVersion" })

export const Preset = z
  .object({
    id: z.uuid(),
    slug: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    status: z.enum(PRESET_STATUSES),
    status_updated_at: z.iso.datetime().nullable(),
    creator_user_id: z.string().nullable(),
    workspace_id: z.uuid().nullable(),
    designated_version_id: z.uuid().nullable(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: "Preset" })

export const DesignatedPreset = Preset.extend({ designated_version: PresetVersion.nullable() }).meta({
  id: "DesignatedPreset",
})

const listOf = <T extends z.ZodType>(item: T) => z.object({ data: z.array(item), total_count: z.int() })
export const PresetList = listOf(Preset).meta({ id: "PresetList" })
export const VersionList = listOf(PresetVersion).meta({ id: "PresetVersionList" })
