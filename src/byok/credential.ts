import type * as z from "zod"
import type { About } from "../secrets/seal.ts"
import { toTimestamp } from "../support/time.ts"
import type { Byok, ByokChange, NewByok } from "./schemas.ts"

/** A row of byok_credentials. Booleans are 0 or 1, lists JSON, instants epoch milliseconds. */
export type ByokRow = {
  id: string
  organization_id: string
  workspace_id: string
  provider: string
  name: string | null
  label: string
  sealed: string
  version: string
  sort_order: number
  disabled: number
  is_byok_only: number
  is_fallback: number
  is_required: number
  declared_zdr: number | null
  allowed_api_key_hashes: string | null
  allowed_models: string | null
  allowed_user_ids: string | null
  created_at: number
  updated_at: number | null
}

type AboutKey = Pick<ByokRow, "id" | "workspace_id" | "provider" | "version">

/** What sort of thing a sealed key is, and whose. */
export function aboutKey({ id, workspace_id, provider, version }: AboutKey): About {
  return { kind: "byok", ownerId: id, workspaceId: workspace_id, name: provider, version }
}

/** Of a shorter key the ends would tell too much. */
const LEAST_MASKED = 20

/** Enough to recognize a key by, too little to guess it from. */
export function toMask(key: string): string {
  return key.length < LEAST_MASKED ? "..." : `${key.slice(0, 3)}...${key.slice(-4)}`
}

/** The columns that a body sets; the key itself is sealed apart. */
export function toColumns(input: ByokChange | NewByok): Partial<ByokRow> {
  const columns: Partial<ByokRow> = {}
  if (input.name !== undefined) columns.name = input.name
  for (const flag of ["disabled", "is_byok_only", "is_fallback", "is_required"] as const) {
    if (input[flag] !== undefined) columns[flag] = input[flag] ? 1 : 0
  }
  if (input.declared_zdr !== undefined) columns.declared_zdr = input.declared_zdr === null ? null : +input.declared_zdr
  for (const list of ["allowed_api_key_hashes", "allowed_models", "allowed_user_ids"] as const) {
    const value = input[list]
    if (value !== undefined) columns[list] = value === null ? null : JSON.stringify(value)
  }
  return columns
}

/** What the audit log tells of a credential: all of a body but the key. */
export const TOLD_FIELDS = [
  "provider",
  "name",
  "disabled",
  "is_byok_only",
  "is_fallback",
  "is_required",
  "declared_zdr",
  "allowed_api_key_hashes",
  "allowed_models",
  "allowed_user_ids",
]

export function toByok(row: ByokRow): z.infer<typeof Byok> {
  return {
    id: row.id,
    workspace_id: row.workspace_id,
    name: row.name,
    label: row.label,
    provider: row.provider,
    disabled: row.disabled === 1,
    is_byok_only: row.is_byok_only === 1,
    is_fallback: row.is_fallback === 1,
    is_required: row.is_required === 1,
    declared_zdr: toFlag(row.declared_zdr),
    sort_order: row.sort_order,
    allowed_api_key_hashes: toList(row.allowed_api_key_hashes),
    allowed_models: toList(row.allowed_models),
    allowed_user_ids: toList(row.allowed_user_ids),
    created_at: toTimestamp(row.created_at),
  }
}

export function toFlag(column: number | null): boolean | null {
  return column === null ? null : column === 1
}

export function toList(column: string | null): string[] | null {
  return column === null ? null : (JSON.parse(column) as string[])
}
