import { nanoToUsd } from "../money/money.ts"
import { toTimestamp } from "../support/time/time.ts"
import { listGenerations, type Range, type SettledGeneration } from "./store.ts"

/** Rows per query: only one such page is in memory. */
const PAGE_ROWS = 1_000

export const EXPORT_FORMATS = {
  csv: { mimeType: "text/csv", extension: "csv" },
  ndjson: { mimeType: "application/x-ndjson", extension: "ndjson" },
} as const
export type ExportFormat = keyof typeof EXPORT_FORMATS

type Cell = string | number | boolean | null | undefined

/** The columns of an export, in order. */
const COLUMNS: Readonly<Record<string, (call: SettledGeneration) => Cell>> = {
  id: (call) => call.id,
  request_id: (call) => call.requestId,
  created_at: (call) => toTimestamp(call.createdAt),
  charged_at: (call) => toTimestamp(call.settledAt),
  workspace_id: (call) => call.workspaceId,
  key_hash: (call) => call.keyHash,
  api_type: (call) => call.apiType,
  requested_model: (call) => call.requestedModel,
  model: (call) => call.model,
  provider: (call) => call.provider,
  streamed: (call) => call.streamed,
  status: (call) => call.status,
  ending: (call) => call.ending,
  finish_reason: (call) => call.finishReason,
  prompt_tokens: (call) => call.tokens.prompt,
  completion_tokens: (call) => call.tokens.completion,
  reasoning_tokens: (call) => call.tokens.reasoning,
  cached_tokens: (call) => call.tokens.cached,
  tokens_from: (call) => call.tokensFrom,
  cost_usd: (call) => nanoToUsd(call.costNano),
  is_byok: (call) => call.isByok,
  byok_cost_usd: (call) => nanoToUsd(call.byokCostNano),
  latency_ms: (call) => call.latencyMs,
  generation_ms: (call) => call.generationMs,
  session_id: (call) => call.sessionId,
  app_url: (call) => call.appUrl,
  app_title: (call) => call.appTitle,
  user_agent: (call) => call.userAgent,
}
const HEADER = Object.keys(COLUMNS).join(",")

/** Clients choose some of these texts. Spreadsheets read text with such a beginning as a formula, in Japanese also wide. */
const FORMULA = /^[=+\-@\t\r\n\uFF0B\uFF0D\uFF1D\uFF20]/

export function toCsvCell(value: Cell): string {
  if (value === null || value === undefined) return ""
  if (typeof value !== "string") return String(value)
  const inert = FORMULA.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert
}

function format(generation: SettledGeneration, kind: ExportFormat): string {
  const cells = Object.entries(COLUMNS).map(([name, read]) => [name, read(generation)] as const)
  if (kind === "ndjson") return `${JSON.stringify(Object.fromEntries(cells))}\n`
  return `${cells.map(([, cell]) => toCsvCell(cell)).join(",")}\r\n`
}

/** Streams the calls of a range in the order in which they were charged. */
export async function* exportLines(db: D1Database, range: Range, kind: ExportFormat): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  if (kind === "csv") yield encoder.encode(`${HEADER}\r\n`)
  let after = { settledAt: 0, id: "" }
  for (;;) {
    const page = await listGenerations(db, range, after, PAGE_ROWS)
    const last = page.at(-1)
    if (!last) return
    yield encoder.encode(page.map((generation) => format(generation, kind)).join(""))
    if (page.length < PAGE_ROWS) return
    after = { settledAt: last.settledAt, id: last.id }
  }
}
