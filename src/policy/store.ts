import { and, eq, getTableColumns } from "drizzle-orm"
import { findBudgetsOf, keyBudgetsStatement, toBudgets } from "../budgets/store.ts"
import { findByokCredentials, byokStatement, readByokCredential } from "../byok/store.ts"
import { NEWEST_REVISION } from "../access/policy-changes-store.ts"
import type { Ancestor, Principal } from "../access/principal.ts"
import { toAppliedGuardrails } from "../guardrails/applied.ts"
import { findAppliedGuardrails, keyGuardrailsStatement, toAppliedRow } from "../guardrails/store.ts"
import { ancestorsStatement, toAncestorRow } from "../keys/lineage-store.ts"
import { earliest, revokesChildren, toLineage } from "../keys/lineage.ts"
import { limitTermsOf } from "../keys/limit-terms.ts"
import { apiKeys, type KeyRow } from "../keys/table.ts"
import { members } from "../members/table.ts"
import { type HeadRow, toHead } from "../observability/coverage.ts"
import { listActiveDestinations, headsStatement } from "../observability/store.ts"
import { rateLimitsOf } from "../money/rate-limits.ts"
import { organizations } from "../organizations/table.ts"
import { openDb, readColumns } from "../support/db.ts"
import { commonTools } from "../support/mcp-tools.ts"
import { workspaces } from "../workspaces/table.ts"
import { toCallDefaults } from "../workspaces/settings.ts"
import { type CallPolicy, NO_RUN, setPolicy } from "./call-policy.ts"

/**
 * The principal of a valid key by its hash, with the policy of its calls. A key is invalid if an ancestor on whose
 * limits it spends is revoked. The only lookup without an organization, which it determines. `includesRevoked`: also
 * returns a key that is disabled or has a revoked ancestor, to describe it. `includesDeleted`: also a deleted key, to
 * charge a call that ran with it.
 */
export async function loadAccess(
  db: D1Database,
  hash: string,
  options: AccessOptions = {},
): Promise<Principal | undefined> {
  return (await readAccess(db, hash, options))?.principal
}

type AccessOptions = { includesRevoked?: boolean; includesDeleted?: boolean }

/** A principal and the policy revision that it was read at. */
export type Access = { principal: Principal; revision: number }

/** As `loadAccess`, with the revision. */
export async function readAccess(
  db: D1Database,
  hash: string,
  { includesRevoked = false, includesDeleted = false }: AccessOptions = {},
): Promise<Access | undefined> {
  const [keys, ancestors, budgets, guardrails, byok, filters] = await db.batch<Record<string, unknown>>([
    db
      .prepare(
        `SELECT k.*, (SELECT settings FROM workspaces WHERE id = k.workspace_id) AS settings,
           (SELECT interns_programme FROM organizations WHERE id = k.organization_id) AS interns_programme,
           (SELECT vault_writes FROM organizations WHERE id = k.organization_id) AS vault_writes,
           ${NEWEST_REVISION} AS revision
         FROM api_keys k WHERE k.hash = ?1 AND (k.disabled = 0 OR ?2) AND (k.deleted_at IS NULL OR ?3)`,
      )
      .bind(hash, includesRevoked ? 1 : 0, includesDeleted ? 1 : 0),
    ancestorsStatement(db, hash),
    keyBudgetsStatement(db, hash),
    keyGuardrailsStatement(db, hash),
    byokStatement(db, hash),
    headsStatement(db, hash),
  ])
  const stored = keys?.results[0]
  const lineage = toLineage((ancestors?.results ?? []).map(toAncestorRow))
  if (!stored || (lineage.isRevoked && !includesRevoked)) return undefined
  const row = readColumns(keyColumns, stored)
  const policy: CallPolicy = {
    defaults: toCallDefaults(row.settings),
    ...toBudgets(budgets?.results ?? []),
    guardrails: toAppliedGuardrails((guardrails?.results ?? []).map(toAppliedRow)),
    byok: (byok?.results ?? []).map(readByokCredential),
    destinations: ((filters?.results ?? []) as HeadRow[]).map(toHead),
    ...NO_RUN,
  }
  const principal: Principal = {
    keyHash: row.hash,
    label: row.label,
    kind: row.kind,
    source: row.source,
    ancestors: lineage.ancestors,
    isOperator: false,
    organizationId: row.organizationId,
    workspaceId: row.workspaceId,
    creatorUserId: row.creatorUserId,
    externalUser: row.externalUser,
    ...limitTermsOf(row),
    rates: rateLimitsOf(row),
    overBudgetModels: row.overBudgetModels,
    mcpTools: toolsOf(row, lineage.ancestors),
    expiresAt: earliest([row.expiresAt, lineage.expiresAt]),
    internId: row.internId,
    hasInternsAccess: row.internsProgramme,
    canWriteVaults: row.vaultWrites,
  }
  return { principal: setPolicy(principal, policy), revision: Number(stored["revision"]) }
}

/** An intern may only use tools that the key which created it has now. */
function toolsOf({ source, mcpTools }: KeyRow, [maker]: readonly Ancestor[]): string[] | null {
  if (source !== "intern" || !maker || !revokesChildren(maker.kind)) return mcpTools
  return commonTools(mcpTools ?? [], maker.mcpTools ?? [])
}

/** Columns of a key, with those of its workspace and organization. */
const keyColumns = {
  ...getTableColumns(apiKeys),
  settings: workspaces.settings,
  internsProgramme: organizations.internsProgramme,
  vaultWrites: organizations.vaultWrites,
}

/** Home of the bootstrap key: the first organization and its default workspace, if it exists. */
async function findOperatorScope(db: D1Database) {
  const [home] = await openDb(db)
    .select({
      organizationId: organizations.id,
      workspaceId: workspaces.id,
      settings: workspaces.settings,
      ownerId: members.userId,
      hasInternsAccess: organizations.internsProgramme,
      canWriteVaults: organizations.vaultWrites,
    })
    .from(organizations)
    .leftJoin(workspaces, and(eq(workspaces.organizationId, organizations.id), eq(workspaces.isDefault, true)))
    .leftJoin(members, and(eq(members.organizationId, organizations.id), eq(members.role, "owner")))
    .orderBy(organizations.createdAt, organizations.id)
    .limit(1)
  return home
}

/** The principal of the bootstrap key, which is a secret of the deployment and not a row. */
export async function loadOperator(db: D1Database, keyHash: string): Promise<Principal> {
  const home = await findOperatorScope(db)
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
    limitIncrease: null,
    dailyLimitNano: null,
    spentBeforeNano: 0,
    counterHash: null,
    rates: null,
    overBudgetModels: null,
    mcpTools: null,
    expiresAt: null,
    internId: null,
    hasInternsAccess: home?.hasInternsAccess ?? false,
    canWriteVaults: home?.canWriteVaults ?? false,
  }
  if (!isSetUp) return principal
  return setPolicy(principal, {
    defaults: toCallDefaults(home?.settings ?? null),
    ...(await findBudgetsOf(db, workspace)),
    guardrails: toAppliedGuardrails(await findAppliedGuardrails(db, keyHash, { ...workspace, userId: ownerId })),
    byok: await findByokCredentials(db, workspace),
    destinations: await listActiveDestinations(db, workspace),
    ...NO_RUN,
  })
}
