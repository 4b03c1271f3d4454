import type * as z from "zod"
import type { Principal } from "../access/principal.ts"
import { GatewayError } from "../errors/errors.ts"
import { withoutToolCredentials } from "../formats/tools/tool-credentials.ts"
import { type Json, parseStored } from "../support/text/json.ts"
import { toTimestamp } from "../support/time/time.ts"
import type { PresetContent } from "./config.ts"
import type { DesignatedPreset, Preset, PresetVersion } from "./schemas.ts"
import type { PresetRow, PresetStatus, VersionRow } from "./table.ts"

/** A preset as calls use it: its designated version. */
export type ActivePreset = PresetContent & {
  id: string
  slug: string
  status: PresetStatus
  /** Maximum size that it adds to a request. */
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
    status_updated_at: row.statusUpdatedAt === null ? null : toTimestamp(row.statusUpdatedAt),
    creator_user_id: row.creatorUserId,
    workspace_id: row.workspaceId,
    designated_version_id: row.designatedVersionId,
    created_at: toTimestamp(row.createdAt),
    updated_at: toTimestamp(row.updatedAt),
  }
}

/** Credentials of MCP servers in its tools are for management keys. */
export function toVersion(row: VersionRow, reader: Pick<Principal, "kind">): z.infer<typeof PresetVersion> {
  const config = parseStored<Json>(row.config)
  return {
    id: row.id,
    preset_id: row.presetId,
    version: row.version,
    config: reader.kind === "management" ? config : withoutToolCredentials(config),
    system_prompt: row.systemPrompt,
    creator_id: row.creatorId,
    created_at: toTimestamp(row.createdAt),
    // A version never changes.
    updated_at: toTimestamp(row.createdAt),
  }
}

export function toDesignated(
  row: PresetRow,
  version: VersionRow | undefined,
  reader: Pick<Principal, "kind">,
): z.infer<typeof DesignatedPreset> {
  return { ...toPreset(row), designated_version: version ? toVersion(version, reader) : null }
}
