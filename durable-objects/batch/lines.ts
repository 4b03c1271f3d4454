import { NO_PROGRESS, NOT_RUN_CODES, type BatchProgress } from "../../src/batches/batch.ts"
import type { InputLine } from "../../src/batches/input.ts"
import { type LineResult, toOutputLine, tokensOf, withoutResponse } from "../../src/batches/result.ts"
import type { LineQueue, LineRun } from "../../src/batches/run.ts"
import { derivedId } from "../../src/support/ids.ts"
import { parseStored } from "../../src/support/text/json.ts"

type Row = { line: number; custom_id: string; offset: number; length: number; attempts: number }

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS lines (
    line INTEGER PRIMARY KEY, custom_id TEXT NOT NULL, offset INTEGER NOT NULL, length INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'running', 'completed', 'failed')),
    attempts INTEGER NOT NULL DEFAULT 0, due_at INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX IF NOT EXISTS lines_due ON lines (due_at, line) WHERE state = 'pending';
  CREATE INDEX IF NOT EXISTS lines_running ON lines (line) WHERE state = 'running';
  CREATE TABLE IF NOT EXISTS results (
    line INTEGER NOT NULL, part INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (line, part)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;`

/** Chunk size, below SQLite's row limit of 2 MB. */
const PART_BYTES = 1024 * 1024
const INSERT_ROWS = 1_000
const READ_PARTS = 8
const READ_ROWS = 1_000

/** The requests of one batch and their results, in the SQLite database of its object. */
export class LineStore implements LineQueue {
  readonly #storage: DurableObjectStorage
  readonly #sql: SqlStorage
  readonly #batchId: string

  constructor(storage: DurableObjectStorage, batchId: string) {
    this.#storage = storage
    this.#sql = storage.sql
    this.#batchId = batchId
    this.#sql.exec(SCHEMA)
  }

  /** Replaces all lines by those of a validated file. */
  fill(lines: readonly InputLine[]): void {
    this.#storage.transactionSync(() => {
      this.#sql.exec("DELETE FROM lines")
      for (let at = 0; at < lines.length; at += INSERT_ROWS) {
        this.#sql.exec(
          `INSERT INTO lines (line, custom_id, offset, length)
           SELECT value ->> 'line', value ->> 'customId', value ->> 'offset', value ->> 'length' FROM json_each(?)`,
          JSON.stringify(lines.slice(at, at + INSERT_ROWS)),
        )
      }
      this.setFact("progress", JSON.stringify({ ...NO_PROGRESS, total: lines.length }))
    })
  }

  take(now: number): LineRun | undefined {
    const [row] = this.#sql.exec<Row>(
      `UPDATE lines SET state = 'running', attempts = attempts + 1
       WHERE line = (SELECT line FROM lines WHERE state = 'pending' AND due_at <= ? ORDER BY due_at, line LIMIT 1)
       RETURNING line, custom_id, offset, length, attempts`,
      now,
    )
    return row && toRun(row)
  }

  retry({ line }: LineRun, dueAt: number): void {
    this.#sql.exec("UPDATE lines SET state = 'pending', due_at = ? WHERE line = ? AND state = 'running'", dueAt, line)
  }

  defer({ line }: LineRun, dueAt: number): void {
    this.#sql.exec(
      "UPDATE lines SET state = 'pending', due_at = ?, attempts = attempts - 1 WHERE line = ? AND state = 'running'",
      dueAt,
      line,
    )
  }

  finish({ line, customId }: InputLine, result: LineResult): void {
    const bytes = new TextEncoder().encode(`${toOutputLine(this.#requestId(line), customId, result)}\n`)
    this.#storage.transactionSync(() => {
      const state = result.isSuccess ? "completed" : "failed"
      this.#sql.exec("UPDATE lines SET state = ? WHERE line = ?", state, line)
      for (let part = 0; part * PART_BYTES < bytes.byteLength; part++) {
        const piece = bytes.slice(part * PART_BYTES, (part + 1) * PART_BYTES)
        this.#sql.exec("INSERT INTO results (line, part, bytes) VALUES (?, ?, ?)", line, part, piece.buffer)
      }
      this.setFact("progress", JSON.stringify(withResult(this.progress(), result)))
    })
  }

  /** A line without a result. */
  unfinishedLine(line: number): InputLine | undefined {
    const [row] = this.#sql.exec<Row>(
      `SELECT line, custom_id, offset, length, attempts FROM lines WHERE line = ? AND state IN ('pending', 'running')`,
      line,
    )
    return row && toRun(row)
  }

  interruptedLines(): LineRun[] {
    return this.#sql
      .exec<Row>("SELECT line, custom_id, offset, length, attempts FROM lines WHERE state = 'running'")
      .toArray()
      .map(toRun)
  }

  progress(): BatchProgress {
    const stored = this.fact("progress")
    return stored === undefined ? NO_PROGRESS : { ...NO_PROGRESS, ...parseStored<Partial<BatchProgress>>(stored) }
  }

  /** Number of lines without a result. */
  unfinished(): number {
    const { total, completed, failed } = this.progress()
    return total - completed - failed
  }

  /** Time of the next waiting line; undefined if none waits. */
  nextDueAt(): number | undefined {
    const [row] = this.#sql.exec<{ due_at: number }>(
      "SELECT due_at FROM lines WHERE state = 'pending' ORDER BY due_at LIMIT 1",
    )
    return row?.due_at
  }

  /** The lines of the output file, or of the error file. */
  async *results(state: "completed" | "failed"): AsyncGenerator<Uint8Array> {
    let after = { line: -1, part: -1 }
    for (;;) {
      const rows = this.#sql
        .exec<{ line: number; part: number; bytes: ArrayBuffer }>(
          `SELECT line, part, bytes FROM results JOIN lines USING (line)
           WHERE state = ? AND (line, part) > (?, ?) ORDER BY line, part LIMIT ?`,
          state,
          after.line,
          after.part,
          READ_PARTS,
        )
        .toArray()
      for (const { bytes } of rows) yield new Uint8Array(bytes)
      const last = rows.at(-1)
      if (!last) return
      after = last
    }
  }

  /** Error lines for requests that will not run. */
  async *withoutResult(code: string, message: string): AsyncGenerator<Uint8Array> {
    const encoder = new TextEncoder()
    let after = -1
    for (;;) {
      const rows = this.#sql
        .exec<{ line: number; custom_id: string }>(
          `SELECT line, custom_id FROM lines WHERE state IN ('pending', 'running') AND line > ? ORDER BY line LIMIT ?`,
          after,
          READ_ROWS,
        )
        .toArray()
      const result = withoutResponse(code, message)
      const text = rows.map((row) => `${toOutputLine(this.#requestId(row.line), row.custom_id, result)}\n`).join("")
      if (text !== "") yield encoder.encode(text)
      const last = rows.at(-1)
      if (!last) return
      after = last.line
    }
  }

  fact(name: string): string | undefined {
    const [row] = this.#sql.exec<{ value: string }>("SELECT value FROM facts WHERE name = ?", name)
    return row?.value
  }

  setFileId(kind: "output" | "error", id: string): void {
    this.setFact(`${kind}_file`, id)
  }

  setFact(name: string, value: string): void {
    this.#sql.exec("INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)", name, value)
  }

  /** Reasons of BYOK credentials that failed before a request was sent, by credential id. */
  skippedCredentials(): ReadonlyMap<string, string> {
    return new Map(Object.entries(parseStored<Record<string, string>>(this.fact("passed_over") ?? "{}")))
  }

  skipCredential(credential: string, reason: string): void {
    this.setFact(
      "passed_over",
      JSON.stringify({ ...Object.fromEntries(this.skippedCredentials()), [credential]: reason }),
    )
  }

  #requestId(line: number): string {
    return `batch_req_${derivedId("batch_request", this.#batchId, String(line))}`
  }
}

function toRun({ line, custom_id: customId, offset, length, attempts }: Row): LineRun {
  return { line, customId, offset, length, attempt: attempts }
}

function withResult(progress: BatchProgress, result: LineResult): BatchProgress {
  const tokens = tokensOf(result)
  return {
    total: progress.total,
    completed: progress.completed + (result.isSuccess ? 1 : 0),
    failed: progress.failed + (result.isSuccess ? 0 : 1),
    cancelled: progress.cancelled + (result.error?.code === NOT_RUN_CODES.cancelled ? 1 : 0),
    expired: progress.expired + (result.error?.code === NOT_RUN_CODES.expired ? 1 : 0),
    inputTokens: progress.inputTokens + tokens.inputTokens,
    cachedTokens: progress.cachedTokens + tokens.cachedTokens,
    outputTokens: progress.outputTokens + tokens.outputTokens,
    reasoningTokens: progress.reasoningTokens + tokens.reasoningTokens,
  }
}
