import type * as z from "zod"
import { GatewayError } from "../errors/errors.ts"
import { toTimestamp } from "../support/time.ts"
import type { PresetContent } from "./config.ts"
import type { DesignatedPreset, Preset, PresetVersion } from "./schemas.ts"

export type PresetStatus = "active" | "disabled" | "archived"

/** A row of presets. */
export type PresetRow = {
  id: string
  organization_id: string
  workspace_id: string
  slug: string
  name: string
  description: string | null
  status: PresetStatus
  status_updated_at: number | null
  designated_version_id: string | null
  creator_user_id: string | null
  created_at: number
  updated_at: number
}

/** A row of preset_versions. */
export type VersionRow = {
  id: string
  preset_id: string
  version: number
  /** JSON of PresetConfig. */
  config: string
  system_prompt: string | null
  creator_id: string
  created_at: number
}

/** A preset as calls use it: its designated version. */
export type ActivePreset = PresetContent & {
  id: string
  slug: string
  status: PresetStatus
  /** What it can add to the size of a request. */
  bytes: number
}

/** The preset for a call, or why there is none. */
export function requireActive(slug: string, preset: ActivePreset | undefined): ActivePreset {
  if (!preset) throw new GatewayError("not_found", `There is no preset ${slug} in the workspace of this key.`)
  if (preset.status === "archived") throw new GatewayError("not_found", `The preset ${slug} is archived.`)
  if (preset.status === "disabled") throw new GatewayError("invalid_request", `The preset ${slug} is disabled.`)
  return preset
}

export function toPreset(row: PresetRow): z.infer<typeof Preset> {
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    description: row.description,
    status: row.status,
    status_updated_at: row.status_updated_at === null ? null : toTimestamp(row.status_updated_at),
    creator_user_id: row.creator_user_id,
    workspace_id: row.workspace_id,
    designated_version_id: row.designated_version_id,
    created_at: toTimestamp(row.created_at),
    updated_at: toTimestamp(row.updated_at),
  }
}

export function toVersion(row: VersionRow): z.infer<typeof PresetVersion> {
  return {
    id: row.id,
    preset_id: row.preset_id,
    version: row.version,
    config: JSON.parse(row.config) as Record<string, unknown>,
    system_prompt: row.system_prompt,
    creator_id: row.creator_id,
    created_at: toTimestamp(row.created_at),
    // A version never changes.
    updated_at: toTimestamp(row.created_at),
  }
}

export function toDesignated(row: PresetRow, version: VersionRow | undefined): z.infer<typeof DesignatedPreset> {
  return { ...toPreset(row), designated_version: version ? toVersion(version) : null }
}
