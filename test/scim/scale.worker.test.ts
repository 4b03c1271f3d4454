import { env } from "cloudflare:workers"
import { expect, test } from "vitest"
import { runSyncJob } from "../../src/scim/sync/sync.ts"
import { runs } from "../support/runs.ts"
import { expectJson } from "../support/world.ts"
import { newDirectory, queueSyncJob } from "./directory.ts"

/** 10,000 users in 500 groups at the depth of CI. */
const USERS = Math.min(10_000, runs(400))
const GROUPS = USERS / 20
const TEAMS = 10
/**
 * Limits of D1 for one invocation and one statement on Workers Paid,
 * https://developers.cloudflare.com/d1/platform/limits/.
 */
const MAX_QUERIES = 1_000
const MAX_PARAMETERS = 100
const MAX_STATEMENT_BYTES = 100_000
const MAX_VALUE_BYTES = 2_000_000

type Counts = { statements: number; parameters: number; bytes: number; value: number }

/** Counts queries to the database: each statement of a batch is one. */
function counting(db: D1Database): { db: D1Database; counts: Counts } {
  const counts = { statements: 0, parameters: 0, bytes: 0, value: 0 }
  const inner = new WeakMap<object, D1PreparedStatement>()
  const wrap = (statement: D1PreparedStatement): D1PreparedStatement => {
    const count = <T>(work: T): T => (counts.statements++, work)
    const wrapped = {
      bind: (...values: unknown[]) => {
        counts.parameters = Math.max(counts.parameters, values.length)
        for (const value of values) counts.value = Math.max(counts.value, String(value).length)
        return wrap(statement.bind(...values))
      },
      all: () => count(statement.all()),
      run: () => count(statement.run()),
      first: () => count(statement.first()),
    } as unknown as D1PreparedStatement
    inner.set(wrapped, statement)
    return wrapped
  }
  const counted = {
    prepare: (sql: string) => {
      counts.bytes = Math.max(counts.bytes, sql.length)
      return wrap(db.prepare(sql))
    },
    batch: (statements: D1PreparedStatement[]) => {
      counts.statements += statements.length
      return db.batch(statements.map((one) => inner.get(one) ?? one))
    },
  } as unknown as D1Database
  return { db: counted, counts }
}

type Job = { status: string; synced_groups: number | null }

/** Every user is in two groups, and each group is mapped to one of the workspaces; one in seven is inactive. */
async function seed(organizationId: string, directoryId: string): Promise<void> {
  const all = "json_each(?2)"
  const [users, groups, teams] = [USERS, GROUPS, TEAMS].map((count) =>
    JSON.stringify(Array.from({ length: count }, (_, index) => index)),
  )
  await env.DB.batch([
    env.DB.prepare(
      `INSERT INTO scim_users (organization_id, id, directory_id, user_name, email, active, attributes, created_at, updated_at)
       SELECT ?1, ?1 || '-u' || value, ?3, 'u' || value, 'u' || value || '@example.com', value % 7 <> 0, '{}', 0, 0 FROM ${all}`,
    ).bind(organizationId, users, directoryId),
    env.DB.prepare(
      `INSERT INTO scim_groups (id, organization_id, directory_id, display_name, stamp, created_at, updated_at)
       SELECT ?1 || '-g' || value, ?1, ?3, 'g' || value, '', 0, 0 FROM ${all}`,
    ).bind(organizationId, groups, directoryId),
    env.DB.prepare(
      `INSERT INTO scim_group_members (group_id, user_id, organization_id)
       SELECT ?1 || '-g' || (value % ${GROUPS}), ?1 || '-u' || value, ?1 FROM ${all}
       UNION SELECT ?1 || '-g' || ((value + 1) % ${GROUPS}), ?1 || '-u' || value, ?1 FROM ${all}`,
    ).bind(organizationId, users),
    env.DB.prepare(
      `INSERT INTO workspaces (id, organization_id, name, slug, created_at, updated_at, is_default)
       SELECT ?1 || '-t' || value, ?1, 't', 't' || value, 0, 0, 0 FROM ${all}`,
    ).bind(organizationId, teams),
    env.DB.prepare(
      `INSERT INTO scim_group_mappings (id, organization_id, scim_group_id, workspace_id, role, created_at, updated_at)
       SELECT ?1 || '-m' || value, ?1, ?1 || '-g' || value, ?1 || '-t' || (value % ${TEAMS}), iif(value % 20 = 0, 'admin', 'member'), 0, 0
       FROM ${all}`,
    ).bind(organizationId, groups),
  ])
}

test(`${USERS} users in ${GROUPS} groups are synced within the limits of an invocation, and the job reports its progress`, async () => {
  const { workspace, id: directoryId } = await newDirectory()
  const { organizationId, manage } = workspace
  await seed(organizationId, directoryId)
  const id = await queueSyncJob(workspace, "users")
  const job = async () => (await expectJson<{ data: Job }>(200, manage.get(`/scim/sync-jobs/${id}`))).data
  const seen: (number | null)[] = []
  let steps = 0
  let isDone = false
  const { db, counts } = counting(env.DB)
  // One step at a time: all together stay within the limits of one invocation.
  while (!isDone && steps < 60) {
    await env.DB.prepare("UPDATE scim_sync_jobs SET leased_until = 0 WHERE id = ?").bind(id).run()
    const taken = await runSyncJob({ ...env, DB: db }, organizationId, id, 1)
    steps += taken
    const now = await job()
    seen.push(now.synced_groups)
    isDone = now.status === "succeeded"
  }
  expect(isDone).toBe(true)
  expect(seen).toEqual(seen.toSorted((one, other) => (one ?? 0) - (other ?? 0)))
  // The queue's consumer may have taken other steps.
  expect(seen.some((groups) => groups !== null && groups > 0 && groups < GROUPS)).toBe(true)
  expect(seen.at(-1)).toBe(GROUPS)
  expect(counts.statements).toBeLessThan(MAX_QUERIES)
  expect(counts.parameters).toBeLessThanOrEqual(MAX_PARAMETERS)
  expect(counts.bytes).toBeLessThan(MAX_STATEMENT_BYTES)
  expect(counts.value).toBeLessThan(MAX_VALUE_BYTES)

  const [members, wrong] = await env.DB.batch<{ count: number }>([
    env.DB.prepare("SELECT count(*) AS count FROM members WHERE organization_id = ? AND source = 'scim'").bind(
      organizationId,
    ),
    // Derives the expectation from the number of a user, not from groups and mappings.
    env.DB.prepare(
      `WITH given AS (
         SELECT value AS u, value % ${GROUPS} AS g FROM json_each(?2) WHERE value % 7 <> 0
         UNION SELECT value, (value + 1) % ${GROUPS} FROM json_each(?2) WHERE value % 7 <> 0
       ), expected AS (
         SELECT ?1 || '-t' || (g % ${TEAMS}) AS team, ?1 || '-u' || u AS user, min(iif(g % 20 = 0, 'admin', 'member')) AS role
         FROM given GROUP BY 1, 2
       ), actual AS (
         SELECT workspace_id, user_id, role FROM workspace_members WHERE organization_id = ?1 AND source = 'scim'
       )
       SELECT (SELECT count(*) FROM (SELECT * FROM expected EXCEPT SELECT * FROM actual))
         + (SELECT count(*) FROM (SELECT * FROM actual EXCEPT SELECT * FROM expected)) AS count`,
    ).bind(organizationId, JSON.stringify(Array.from({ length: USERS }, (_, index) => index))),
  ])
  expect(members?.results[0]?.count).toBe(USERS - Math.ceil(USERS / 7))
  expect(wrong?.results[0]?.count).toBe(0)
})
