import { type KeyBudgetRow, findWorkspaceBudgets, keyBudgetsStatement, toWorkspaceBudgets } from "../budgets/store.ts"
import { findOwnKeys, ownKeysStatement } from "../byok/store.ts"
import { type ByokCredentialRow, toByokCredential } from "../byok/usable-credentials.ts"
import type { Principal } from "../access/principal.ts"
import { toCallerGuardrails } from "../guardrails/applied.ts"
import { type AppliedRow, findCallerGuardrails, keyGuardrailsStatement } from "../guardrails/store.ts"
import { ancestorsStatement } from "../keys/lineage-store.ts"
import { type AncestorRow, earliest, toLineage } from "../keys/lineage.ts"
import type { KeyRow } from "../keys/store.ts"
import { type HeadRow, toHead } from "../observability/coverage.ts"
import { listActiveDestinations, headsStatement } from "../observability/store.ts"
import { toCallDefaults } from "../workspaces/settings.ts"
import { type CallPolicy, setPolicy } from "./call-policy.ts"

/**
 * The principal of the live key with this hash, none of whose ancestors that spend is revoked, with the policy of its
 * calls. The one lookup without an organization: it finds the organization.
 */
export async function loadAccess(db: D1Database, hash: string): Promise<Principal | undefined> {
  const [keys, ancestors, budgets, guardrails, byok, filters] = await db.batch<Record<string, unknown>>([
    db
      .prepare(
        `SELECT k.*, (SELECT settings FROM workspaces WHERE id = k.workspace_id) AS settings,
           (SELECT interns_programme * 2 + vault_writes FROM organizations WHERE id = k.organization_id) AS rights
         FROM api_keys k WHERE k.hash = ? AND k.disabled = 0 AND k.deleted_at IS NULL`,
      )
      .bind(hash),
    ancestorsStatement(db, hash),
    keyBudgetsStatement(db, hash),
    keyGuardrailsStatement(db, hash),
    ownKeysStatement(db, hash),
    headsStatement(db, hash),
  ])
  const row = keys?.results[0] as (KeyRow & KeyContext) | undefined
  const lineage = toLineage((ancestors?.results ?? []) as AncestorRow[])
  if (!row || lineage.isRevoked) return undefined
  const policy: CallPolicy = {
    defaults: toCallDefaults(row.settings),
    budgets: toWorkspaceBudgets((budgets?.results ?? []) as KeyBudgetRow[]),
    guardrails: toCallerGuardrails((guardrails?.results ?? []) as AppliedRow[]),
    byok: ((byok?.results ?? []) as ByokCredentialRow[]).map(toByokCredential),
    destinations: ((filters?.results ?? []) as HeadRow[]).map(toHead),
  }
  return setPolicy(
    {
      keyHash: row.hash,
      label: row.label,
      kind: row.kind,
      source: row.source,
      ancestors: lineage.ancestors,
      isOperator: false,
      organizationId: row.organization_id,
      workspaceId: row.workspace_id,
      creatorUserId: row.creator_user_id,
      externalUser: row.external_user,
      limitNano: row.limit_nano,
      limitReset: row.limit_reset,
      includeByokInLimit: row.include_byok_in_limit === 1,
      expiresAt: earliest([row.expires_at, lineage.expiresAt]),
      internId: row.intern_id,
      ...toRights(row.rights),
    },
    policy,
  )
}

/** What is read along with a key: of its workspace, its intern and its organization. */
type KeyContext = { settings: string; intern_id: string | null; rights: number }

/** `interns_programme * 2 + vault_writes` of an organization. */
function toRights(rights: number): Pick<Principal, "hasInternsAccess" | "canWriteVaults"> {
  return { hasInternsAccess: rights >= 2, canWriteVaults: rights % 2 === 1 }
}

/** Where the bootstrap key is at home: the first organization, and its default workspace while there is one. */
async function findOperatorHome(db: D1Database) {
  const row = await db
    .prepare(
      `SELECT o.id AS organizationId, w.id AS workspaceId, w.settings, m.user_id AS ownerId,
         o.interns_programme * 2 + o.vault_writes AS rights
       FROM organizations o LEFT JOIN workspaces w ON w.organization_id = o.id AND w.is_default = 1
         LEFT JOIN members m ON m.organization_id = o.id AND m.role = 'owner'
       ORDER BY o.created_at, o.id LIMIT 1`,
    )
    .first<{
      organizationId: string
      workspaceId: string | null
      settings: string | null
      ownerId: string | null
      rights: number
    }>()
  return row ?? undefined
}

/** The principal of the bootstrap key, which is a secret of the deployment and not a row. */
export async function loadOperator(db: D1Database, keyHash: string): Promise<Principal> {
  const home = await findOperatorHome(db)
  const { organizationId = "", ownerId = null } = home ?? {}
  const workspaceId = home?.workspaceId ?? ""
  const isSetUp = workspaceId !== ""
  const workspace = { organizationId, workspaceId }
  const principal: Principal = {
    keyHash,
    label: "bootstrap",
    kind: "management",
    source: "created",
    ancestors: [],
    isOperator: true,
    organizationId,
    workspaceId,
    creatorUserId: ownerId,
    externalUser: null,
    limitNano: null,
    limitReset: null,
    includeByokInLimit: false,
    expiresAt: null,
    internId: null,
    ...toRights(home?.rights ?? 0),
  }
  if (!isSetUp) return principal
  return setPolicy(principal, {
    defaults: toCallDefaults(home?.settings ?? null),
    budgets: await findWorkspaceBudgets(db, workspaceId),
    guardrails: toCallerGuardrails(await findCallerGuardrails(db, keyHash, { ...workspace, userId: ownerId })),
    byok: await findOwnKeys(db, workspace),
    destinations: await listActiveDestinations(db, workspace),
  })
}
