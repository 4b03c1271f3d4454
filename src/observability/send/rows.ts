import type { Outbound } from "../../outbound/send.ts"
import type { ConfigOf } from "../kinds.ts"
import { toRow } from "../event.ts"
import { USER_AGENT, type Delivery } from "./delivery.ts"

/** Destinations with one row per call in an existing table: see toRow for its columns. */

const JSON_HEADERS = { "content-type": "application/json", "user-agent": USER_AGENT }

/** https://clickhouse.com/docs/interfaces/http. The token drops a repeated batch within the deduplication window. */
export function toClickhouse(config: ConfigOf<"clickhouse">, { id, events, flags }: Delivery): Outbound {
  const url = new URL(config.host)
  url.searchParams.set("database", config.database)
  url.searchParams.set("query", `INSERT INTO \`${config.table}\` FORMAT JSONEachRow`)
  url.searchParams.set("input_format_skip_unknown_fields", "1")
  url.searchParams.set("date_time_input_format", "best_effort")
  url.searchParams.set("insert_deduplication_token", id)
  return {
    url: url.href,
    method: "POST",
    headers: {
      ...JSON_HEADERS,
      "x-clickhouse-user": config.username,
      "x-clickhouse-key": config.password,
      ...config.headers,
    },
    body: events.map((event) => JSON.stringify(toRow(event, flags))).join("\n"),
  }
}

/** Columns of a Snowflake table, each VARIANT or of the type of its values. */
const COLUMNS = ["event_id", "generation_id", "started_at", "model", "provider", "session_id", "event"] as const

/** https://docs.snowflake.com/en/developer-guide/sql-api. MERGE by `event_id` makes repeated deliveries idempotent. */
export function toSnowflake(config: ConfigOf<"snowflake">, { id, events, flags }: Delivery): Outbound {
  const rows = events.map((event) => toRow(event, flags))
  const value = (column: string) =>
    column === "event"
      ? "value"
      : column === "started_at"
        ? "value:started_at::timestamp_tz"
        : `value:${column}::string`
  const columns = COLUMNS.map((column) => `"${column.toUpperCase()}"`)
  const statement =
    `MERGE INTO "${config.table}" t USING (SELECT ${COLUMNS.map((column, at) => `${value(column)} AS ${columns[at]}`).join(", ")} ` +
    `FROM TABLE(FLATTEN(INPUT => PARSE_JSON(?)))) s ON t."EVENT_ID" = s."EVENT_ID" ` +
    `WHEN NOT MATCHED THEN INSERT (${columns.join(", ")}) VALUES (${columns.map((column) => `s.${column}`).join(", ")})`
  const url = new URL(`https://${config.account.toLowerCase()}.snowflakecomputing.com/api/v2/statements`)
  url.searchParams.set("requestId", id)
  return {
    url: url.href,
    method: "POST",
    headers: {
      ...JSON_HEADERS,
      accept: "application/json",
      authorization: `Bearer ${config.token}`,
      "x-snowflake-authorization-token-type": "PROGRAMMATIC_ACCESS_TOKEN",
      ...config.headers,
    },
    body: JSON.stringify({
      statement,
      timeout: 60,
      database: config.database,
      schema: config.schema,
      warehouse: config.warehouse,
      bindings: { "1": { type: "TEXT", value: JSON.stringify(rows) } },
    }),
  }
}

/** Rows as JSON: Ramp documents no format for them. */
export function toRamp(config: ConfigOf<"ramp">, { id, events, flags }: Delivery): Outbound {
  return {
    url: config.baseUrl,
    method: "POST",
    headers: {
      ...JSON_HEADERS,
      authorization: `Bearer ${config.apiKey}`,
      "idempotency-key": id,
      ...config.headers,
    },
    body: JSON.stringify({ events: events.map((event) => toRow(event, flags)) }),
  }
}
