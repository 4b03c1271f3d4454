import type * as z from "zod"
import type { AssociatedData } from "../secrets/seal.ts"
import { toTimestamp } from "../support/time/time.ts"
import type { Byok, ByokChange, NewByok } from "./schemas.ts"
import type { ByokRow } from "./table.ts"

type AadFields = Pick<ByokRow, "id" | "workspaceId" | "provider" | "version">

/** Authenticated context of a sealed key. */
export function keyAad({ id, workspaceId, provider, version }: AadFields): AssociatedData {
  return { kind: "byok", ownerId: id, workspaceId, name: provider, version }
}

/** Shorter keys are masked completely: their ends would reveal too much. */
const MIN_MASKED = 20

/** Number of visible characters: enough to recognize a key, too few to guess it. */
export function toMask(key: string): string {
  return key.length < MIN_MASKED ? "..." : `${key.slice(0, 3)}...${key.slice(-4)}`
}

type Columns = Pick<
  ByokRow,
  | "name"
  | "disabled"
  | "isByokOnly"
  | "isFallback"
  | "isRequired"
  | "declaredZdr"
  | "declaredRegion"
  | "sortOrder"
  | "allowedApiKeyHashes"
  | "allowedModels"
  | "allowedUserIds"
>

/** Columns of a request body, undefined where it omits them; the key is sealed separately. */
export function toColumns(input: ByokChange | NewByok): { [Name in keyof Columns]: Columns[Name] | undefined } {
  return {
    name: input.name,
    disabled: input.disabled,
    isByokOnly: input.is_byok_only,
    isFallback: input.is_fallback,
    isRequired: input.is_required,
    declaredZdr: input.declared_zdr,
    declaredRegion: input.declared_region,
    sortOrder: input.sort_order,
    allowedApiKeyHashes: input.allowed_api_key_hashes,
    allowedModels: input.allowed_models,
    allowedUserIds: input.allowed_user_ids,
  }
}

/** Fields whose values the audit log records: all but the key. */
export const AUDITED_FIELDS = [
  "provider",
  "name",
  "disabled",
  "is_byok_only",
  "is_fallback",
  "is_required",
  "declared_zdr",
  "declared_region",
  "sort_order",
  "allowed_api_key_hashes",
  "allowed_models",
  "allowed_user_ids",
]

export function toByok(row: ByokRow): z.infer<typeof Byok> {
  return {
    id: row.id,
    workspace_id: row.workspaceId,
    name: row.name,
    label: row.label,
    provider: row.provider,
    disabled: row.disabled,
    is_byok_only: row.isByokOnly,
    is_fallback: row.isFallback,
    is_required: row.isRequired,
    declared_zdr: row.declaredZdr,
    declared_region: row.declaredRegion,
    sort_order: row.sortOrder,
    allowed_api_key_hashes: row.allowedApiKeyHashes,
    allowed_models: row.allowedModels,
    allowed_user_ids: row.allowedUserIds,
    created_at: toTimestamp(row.createdAt),
  }
}
