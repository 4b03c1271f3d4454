import { env } from "cloudflare:workers"
import { afterAll, beforeAll, expect } from "vitest"
import { newEntry } from "../../src/audit/entry.ts"
import { auditStatement } from "../../src/audit/store.ts"
import { findLivePreset } from "../../src/presets/store.ts"
import { readAccess } from "../../src/policy/store.ts"

/** The statements that cached keys and presets are read with. */
async function cachedStatements(): Promise<string> {
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
  return statements.join("\n")
}

type Row = { name: string }

/** An entry of the audit log with a revision, for a change that a test writes to the database itself. */
export function policyEntry(organizationId: string): D1PreparedStatement {
  const actor = { organizationId, keyHash: "", label: "", creatorUserId: null, ip: null, userAgent: null }
  const event = { action: "organization.update", resourceId: organizationId, workspaceId: null } as const
  return auditStatement(env.DB, newEntry({ ...actor, requestId: "req-1", at: Date.now() }, event))
}

/** Versions of a preset do not change. A data key changes only its form: the same values are read with both. */
const EXCEPT = new Set(["preset_versions", "data_keys", "audit_log"])
/** A new key changes no cached one, and a new organization has none. */
const NOT_AFTER_INSERT = new Set(["api_keys", "organizations"])

/** The tables that cached keys and presets are read from, with the columns that are read. */
export async function policyColumns(): Promise<Map<string, string[]>> {
  const sql = await cachedStatements()
  const isNamed = (name: string) => new RegExp(`\\b${name}\\b`).test(sql)
  const { results: tables } = await env.DB.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all<Row>()
  const read = new Map<string, string[]>()
  for (const { name: table } of tables) {
    if (!isNamed(table) || EXCEPT.has(table)) continue
    const { results } = await env.DB.prepare("SELECT name FROM pragma_table_info(?)").bind(table).all<Row>()
    const columns = results.map(({ name }) => name)
    // The other columns of a destination, whose alias is `d`, are the state of its deliveries.
    const isRead = (name: string) =>
      table === "api_keys" || (table === "destinations" ? isNamed(`d\\.${name}`) : isNamed(name))
    read.set(table, columns.filter(isRead))
  }
  return read
}

const organizationOf = (table: string, row: "NEW" | "OLD") => {
  if (table === "organizations") return `SELECT ${row}.id`
  if (table === "workspace_budgets") return `SELECT organization_id FROM workspaces WHERE id = ${row}.workspace_id`
  return `SELECT ${row}.organization_id`
}

const BROADCASTS = "'$.is_observability_broadcast_enabled'"
/** Updates that follow their entry in the same transaction: of the first destination of a workspace, and of interns. */
const AFTER_ENTRY: Readonly<Record<string, string>> = {
  workspaces: `json_type(OLD.settings, ${BROADCASTS}) IS NULL AND json_type(NEW.settings, ${BROADCASTS}) = 'true'`,
  api_keys: "NEW.source = 'intern'",
}
/** Their rows end with their workspace, after its entry and in the same transaction. */
const OF_WORKSPACE = new Set(["api_keys", "byok_credentials", "destinations", "guardrails", "workspace_budgets"])

function conditionOf(table: string, event: string, row: "NEW" | "OLD"): string {
  const isUpdate = event.startsWith("UPDATE")
  const isDeleted = `EXISTS (SELECT 1 FROM workspaces w WHERE w.id = ${row}.workspace_id AND w.deleted_at IS NOT NULL)`
  const follows = [
    ...(isUpdate && AFTER_ENTRY[table] !== undefined ? [AFTER_ENTRY[table]] : []),
    ...(OF_WORKSPACE.has(table) ? [isDeleted] : []),
  ]
  return follows.length === 0 ? "" : `WHEN NOT (${follows.join(" OR ")})`
}

async function triggers(): Promise<string[]> {
  const columns = await policyColumns()
  return [...columns].flatMap(([table, read]) => {
    const trigger = (event: string, row: "NEW" | "OLD") =>
      `CREATE TRIGGER unrevised_${table}_${event.slice(0, 6)} AFTER ${event} ON ${table}
       ${conditionOf(table, event, row)} BEGIN
         INSERT OR IGNORE INTO unrevised (organization_id, table_name) SELECT *, '${table}' FROM (${organizationOf(table, row)});
       END`
    return [
      ...(NOT_AFTER_INSERT.has(table) ? [] : [trigger("INSERT", "NEW")]),
      trigger(`UPDATE OF ${read.join(", ")}`, "NEW"),
      trigger("DELETE", "OLD"),
    ]
  })
}

/**
 * Fails the file if its requests change a policy without a revision in the audit log, which would keep a changed key in
 * the caches of other isolates.
 */
export function watchPolicyWrites(): void {
  beforeAll(async () => {
    const record = `CREATE TRIGGER unrevised_revised AFTER INSERT ON audit_log WHEN NEW.revision IS NOT NULL BEGIN
      DELETE FROM unrevised WHERE organization_id = NEW.organization_id;
    END`
    const table = "CREATE TABLE unrevised (organization_id TEXT, table_name TEXT, UNIQUE (organization_id, table_name))"
    await env.DB.batch([table, record, ...(await triggers())].map((sql) => env.DB.prepare(sql)))
  })

  afterAll(async () => {
    const { results: unrevised } = await env.DB.prepare("SELECT * FROM unrevised").all()
    const { results: created } = await env.DB.prepare(
      "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'unrevised_%'",
    ).all<Row>()
    const drops = created.map(({ name }) => env.DB.prepare(`DROP TRIGGER ${name}`))
    await env.DB.batch([...drops, env.DB.prepare("DROP TABLE unrevised")])
    expect(unrevised).toEqual([])
  })
}
