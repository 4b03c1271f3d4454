import { env } from "cloudflare:workers"
import { expect, test } from "vitest"
import { findLivePreset } from "../../src/presets/store.ts"
import { readAccess } from "../../src/policy/store.ts"
import { expectJson, newKey, newMember, newWorkspace } from "../support/world.ts"

type Column = { table: string; name: string }

/** Statements that a cached key or preset is read with. */
async function cachedStatements(): Promise<string[]> {
  const statements: string[] = []
  const recorder = new Proxy(env.DB, {
    get: (db, property: "prepare" | "batch") =>
      property === "prepare"
        ? (sql: string) => {
            statements.push(sql)
            return db.prepare(sql)
          }
        : db[property].bind(db),
  })
  await readAccess(recorder, "unknown")
  await findLivePreset(recorder, { organizationId: "", workspaceId: "" }, "unknown")
  return statements
}

const sql = (await cachedStatements()).join("\n")
const isNamed = (name: string) => new RegExp(`\\b${name}\\b`).test(sql)
const { results: tables } = await env.DB.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all<Column>()
const cached = tables.map(({ name }) => name).filter((name) => name !== "policy_changes" && isNamed(name))

/** Versions of a preset do not change. */
const IMMUTABLE = ["preset_versions"]
/** A new key changes no cached one, and organizations start without any. */
const NOT_AFTER_INSERT = ["api_keys", "organizations"]

/** Other columns of a destination are the state of its deliveries; its alias in the statements is `d`. */
function isRead(table: string, column: string): boolean {
  if (table === "api_keys") return true
  return table === "destinations" ? column !== "id" && isNamed(`d\\.${column}`) : isNamed(column)
}

async function newPolicy() {
  const workspace = await newWorkspace()
  const { manage, organizationId } = workspace
  const { hash } = await newKey(workspace)
  const userId = `user-of-${organizationId}`
  await newMember(workspace, userId)
  const { data } = await expectJson<{ data: { id: string } }>(201, manage.post("/guardrails", { name: "limits" }))
  await expectJson(200, manage.post(`/guardrails/${data.id}/assignments/keys`, { key_hashes: [hash] }))
  await expectJson(200, manage.post(`/guardrails/${data.id}/assignments/members`, { member_user_ids: [userId] }))
  await expectJson(201, manage.post("/byok", { provider: "openai", key: "sk-of-the-workspace" }))
  await expectJson(200, manage.put("/workspaces/default/budgets/daily", { limit_usd: 5 }))
  await expectJson(200, manage.put("/provider-budgets/openai/daily", { limit_usd: 5 }))
  await expectJson(200, manage.post("/presets/p/chat/completions", { model: "sim/echo" }))
  const destination = { type: "webhook", name: "hook", config: { url: "https://hook.example" } }
  await expectJson(201, manage.post("/observability/destinations", destination))
  return workspace
}

async function revisionOf(organizationId: string): Promise<number> {
  const row = await env.DB.prepare("SELECT revision FROM policy_changes WHERE organization_id = ?")
    .bind(organizationId)
    .first<{ revision: number }>()
  return row?.revision ?? 0
}

/** Condition for the rows of an organization in a table. */
function ofOrganization(table: string): string {
  if (table === "organizations") return "id = ?1"
  if (table === "workspace_budgets") return "workspace_id IN (SELECT id FROM workspaces WHERE organization_id = ?1)"
  return "organization_id = ?1"
}

test("the tables that cached keys and presets are read from are known", () => {
  expect(cached.toSorted()).toEqual([
    "api_keys",
    "byok_credentials",
    "data_keys",
    "destinations",
    "guardrail_keys",
    "guardrail_members",
    "guardrails",
    "organizations",
    "preset_versions",
    "presets",
    "provider_budgets",
    "workspace_budgets",
    "workspaces",
  ])
})

test("a change of any column that they are read from is a policy change", async () => {
  const { organizationId } = await newPolicy()
  const missed: string[] = []
  for (const table of cached.filter((name) => !IMMUTABLE.includes(name))) {
    const columns = await env.DB.prepare("SELECT name FROM pragma_table_info(?)").bind(table).all<Column>()
    const read = columns.results.filter(({ name }) => isRead(table, name))
    expect(read.length).toBeGreaterThan(1)
    for (const { name } of read) {
      const before = await revisionOf(organizationId)
      const update = `UPDATE ${table} SET ${name} = ${name} WHERE ${ofOrganization(table)}`
      const { meta } = await env.DB.prepare(update).bind(organizationId).run()
      expect([table, meta.changes > 0]).toEqual([table, true])
      if ((await revisionOf(organizationId)) === before) missed.push(`${table}.${name}`)
    }
  }
  expect(missed).toEqual([])
})

test("every table that they are read from has triggers for each kind of change", async () => {
  const { results } = await env.DB.prepare("SELECT tbl_name, sql FROM sqlite_master WHERE type = 'trigger'").all<{
    tbl_name: string
    sql: string
  }>()
  const has = (table: string, kind: string) =>
    results.some((trigger) => trigger.tbl_name === table && trigger.sql.includes(` AFTER ${kind} `))
  const missing = cached
    .filter((table) => !IMMUTABLE.includes(table))
    .flatMap((table) => ["INSERT", "UPDATE", "DELETE"].map((kind) => [table, kind] as const))
    .filter(([table, kind]) => !has(table, kind) && !(kind === "INSERT" && NOT_AFTER_INSERT.includes(table)))
  expect(missing).toEqual([])
})

test("a change of one organization is none of another", async () => {
  const [mine, theirs] = [await newPolicy(), await newPolicy()]
  const before = await revisionOf(theirs.organizationId)
  await env.DB.prepare("UPDATE guardrails SET name = 'new' WHERE organization_id = ?").bind(mine.organizationId).run()
  await env.DB.prepare(`DELETE FROM workspace_budgets WHERE ${ofOrganization("workspace_budgets")}`)
    .bind(mine.organizationId)
    .run()
  expect(await revisionOf(theirs.organizationId)).toBe(before)
  expect(await revisionOf(mine.organizationId)).toBeGreaterThan(before)
})

test("the state of deliveries to a destination is not a policy change", async () => {
  const { organizationId } = await newPolicy()
  const before = await revisionOf(organizationId)
  await env.DB.prepare("UPDATE destinations SET failures = 1, last_error = 'down' WHERE organization_id = ?")
    .bind(organizationId)
    .run()
  expect(await revisionOf(organizationId)).toBe(before)
})

test("an insert that replaces a row is a policy change", async () => {
  const { organizationId } = await newPolicy()
  const before = await revisionOf(organizationId)
  await env.DB.prepare("INSERT OR IGNORE INTO provider_budgets SELECT * FROM provider_budgets WHERE 0").run()
  await env.DB.prepare(
    "INSERT OR REPLACE INTO provider_budgets SELECT * FROM provider_budgets WHERE organization_id = ?",
  )
    .bind(organizationId)
    .run()
  expect(await revisionOf(organizationId)).toBeGreaterThan(before)
})
