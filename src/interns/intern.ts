import { configOf } from "../config/config.ts"
import type { Env } from "../config/env.ts"
import { toTimestamp } from "../support/time/time.ts"
import type { InternHostKind } from "./kinds.ts"
import type { Intern } from "./schemas.ts"
import type { InternRow } from "./table.ts"
import { parseStored } from "../support/text/json.ts"

/** Normalized: `Interns.Example.com.` becomes `interns.example.com`. */
export function internDomain(env: Env): string {
  return configOf(env).INTERN_DOMAIN
}

/** `<name>-<last eight digits of the id>.<domain>`: the first digits of the id only encode the time. */
export function hostnameOf({ id, name }: Pick<InternRow, "id" | "name">, env: Env): string {
  return `${name}-${id.slice(-8)}.${internDomain(env)}`
}

/** Host of new interns whose creator does not choose one. */
export function defaultHost(env: Env): InternHostKind {
  return configOf(env).INTERN_HOST
}

export function toIntern(row: InternRow): Intern {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    instructions: row.instructions,
    model: row.model,
    running_model: row.runningModel,
    host: row.host,
    status: row.status,
    hostname: row.hostname,
    progress: row.progress === null ? null : parseStored<Intern["progress"]>(row.progress),
    last_failure_message: row.lastFailureMessage,
    vault_id: row.vaultId,
    attached_vault_id: row.attachedVaultId,
    workspace_id: row.workspaceId,
    created_at: toTimestamp(row.createdAt),
    updated_at: toTimestamp(row.updatedAt),
  }
}
