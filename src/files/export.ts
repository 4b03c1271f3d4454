import { nanoToUsd } from "../money/money.ts"
import { toTimestamp } from "../support/time.ts"
import { listGenerations, type Range, type SettledGeneration } from "./store.ts"

/** Rows per query: only one such batch is in memory. */
const PAGE_ROWS = 1_000

export const EXPORT_FORMATS = {
  csv: { mimeType: "text/csv", extension: "csv" },
  ndjson: { mimeType: "application/x-ndjson", extension: "ndjson" },
} as const
export type ExportFormat = keyof typeof EXPORT_FORMATS

function toLine(generation: SettledGeneration) {
  const { tokens } = generation
  return {
    id: generation.id,
    request_id: generation.requestId,
    created_at: toTimestamp(generation.createdAt),
    charged_at: toTimestamp(generation.settledAt),
    workspace_id: generation.workspaceId,
    key_hash: generation.keyHash,
    api_type: generation.apiType,
    requested_model: generation.requestedModel,
    model: generation.model,
    provider: generation.provider,
    streamed: generation.streamed,
    status: generation.status,
    ending: generation.ending,
    finish_reason: generation.finishReason,
    prompt_tokens: tokens.prompt,
    completion_tokens: tokens.completion,
    reasoning_tokens: tokens.reasoning,
    cached_tokens: tokens.cached,
    tokens_from: generation.tokensFrom,
    cost_usd: nanoToUsd(generation.costNano),
    is_byok: generation.isByok,
    byok_cost_usd: nanoToUsd(generation.byokCostNano),
    latency_ms: generation.latencyMs,
    generation_ms: generation.generationMs,
    session_id: generation.sessionId,
    app_url: generation.appUrl,
    app_title: generation.appTitle,
    user_agent: generation.userAgent,
  }
}

type Line = ReturnType<typeof toLine>
type Cell = Line[keyof Line]

const NO_GENERATION = {
  tokens: { prompt: 0, completion: 0, reasoning: 0, cached: 0 },
  createdAt: 0,
  settledAt: 0,
  costNano: 0,
  byokCostNano: 0,
} as unknown as SettledGeneration
const HEADER = Object.keys(toLine(NO_GENERATION)).join(",")

/** Clients choose some of these texts, and a spreadsheet reads one that begins like this as a formula. */
const FORMULA = /^[=+\-@\t\r]/

export function toCsvCell(value: Cell): string {
  if (value === null || value === undefined) return ""
  if (typeof value !== "string") return String(value)
  const inert = FORMULA.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert
}

function format(generation: SettledGeneration, kind: ExportFormat): string {
  const line = toLine(generation)
  if (kind === "ndjson") return `${JSON.stringify(line)}\n`
  return `${Object.values(line).map(toCsvCell).join(",")}\r\n`
}

/** What was called in a range, in the order in which it was charged, as it is read. */
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
