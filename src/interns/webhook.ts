import type { AuditEntry } from "../audit/entry.ts"
import type { Env } from "../config/env.ts"
import { masterKeysOf } from "../secrets/master-key.ts"
import { findDataKey } from "../secrets/store.ts"
import { openSealed, sealForWorkspace } from "../secrets/workspace-key.ts"

export const WEBHOOK_EVENTS = [
  "question.opened",
  "question.answered",
  "question.expired",
  "question.cancelled",
  "turn.ended",
] as const
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number]

/** Times are epoch milliseconds. `sealedSecret`: decrypted only for deliveries. */
export type InternWebhook = {
  url: string
  sealedSecret: string
  backlog: number
  lastError: string | null
  lastErrorAt: number | null
  lastSuccessAt: number | null
}

type Owner = { organizationId: string; workspaceId: string; id: string }

const aad = ({ id, workspaceId }: Owner) => {
  return { kind: "intern-webhook", ownerId: id, workspaceId, name: "signing-secret", version: "1" }
}

/** Undefined if the workspace is deleted. */
export function sealSigningSecret(env: Env, owner: Owner, plain: string, entry: AuditEntry) {
  const { organizationId } = owner
  return sealForWorkspace(env.DB, masterKeysOf(env), { aad: aad(owner), plain, organizationId }, entry)
}

export async function openSigningSecret(env: Env, owner: Owner, sealed: string): Promise<string | undefined> {
  const dataKey = await findDataKey(env.DB, owner, owner.workspaceId)
  return dataKey && openSealed({ aad: aad(owner), sealed, dataKey }, masterKeysOf(env))
}
