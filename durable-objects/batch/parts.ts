import type { KeptCall, KeptTarget } from "../../src/inference/deferred/deferral.ts"
import { concat } from "../../src/support/bytes.ts"
import { parseStored } from "../../src/support/text/json.ts"

/** One provider batch with a part of the requests, all for one path and with one key. */
export type Part = {
  part: number
  path: string
  /** Id of the BYOK credential; null for the gateway's key. */
  credential: string | null
  /**
   * `submitting`: the provider batch may exist; `ended`: its results are not read yet; `passed_over`: its credential
   * failed before the creation, and its requests are planned again.
   */
  state: "ready" | "uploaded" | "submitting" | "submitted" | "ended" | "passed_over" | "done"
  file_id: string | null
  batch_id: string | null
  output_file_id: string | null
  error_file_id: string | null
  status: string | null
  message: string | null
  /** Why the part waits, for the owner of the credential. */
  note: string | null
  is_cancelled: number
  failures: number
  due_at: number
}

/** Maximum size of a part, which is sent at once from memory. */
const PART_BYTES = 16 * 1024 * 1024
const PART_LINES = 50_000
/** Chunk size, below SQLite's row limit of 2 MB. */
const PIECE_BYTES = 1024 * 1024

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS requests (
    line INTEGER PRIMARY KEY, path TEXT NOT NULL, length INTEGER NOT NULL, part INTEGER
  ) STRICT;
  CREATE INDEX IF NOT EXISTS requests_part ON requests (part, line);
  CREATE TABLE IF NOT EXISTS request_pieces (
    line INTEGER NOT NULL, piece INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (line, piece)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS kept_pieces (
    line INTEGER NOT NULL, piece INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (line, piece)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS targets (id INTEGER PRIMARY KEY, json TEXT NOT NULL UNIQUE) STRICT;
  CREATE TABLE IF NOT EXISTS parts (
    part INTEGER PRIMARY KEY, path TEXT NOT NULL, state TEXT NOT NULL, file_id TEXT, batch_id TEXT,
    output_file_id TEXT, error_file_id TEXT, status TEXT, message TEXT, is_cancelled INTEGER NOT NULL,
    failures INTEGER NOT NULL, due_at INTEGER NOT NULL
  ) STRICT;`
/** Columns that are missing in objects of batches from earlier releases. */
const ADDED_COLUMNS = [
  ["requests", "credential", "TEXT"],
  ["requests", "target", "INTEGER"],
  ["parts", "credential", "TEXT"],
  ["parts", "note", "TEXT"],
] as const

/** A held request: `text` for the provider, `call` and `target` to read its response. */
type HeldRequest = {
  path: string
  text: string
  credential: string | null
  call: Partial<KeptCall>
  target: KeptTarget
}

/** The upstream requests of a batch, and the provider batches that contain them. */
export class PartStore {
  readonly #storage: DurableObjectStorage
  readonly #sql: SqlStorage

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
    this.#sql = storage.sql
    this.#sql.exec(SCHEMA)
    for (const [table, column, type] of ADDED_COLUMNS) {
      const existing = this.#sql.exec("SELECT 1 FROM pragma_table_info(?) WHERE name = ?", table, column).toArray()
      if (existing.length === 0) this.#sql.exec(`ALTER TABLE ${table} ADD COLUMN ${column} ${type}`)
    }
  }

  /** Adds a held request. A repeated one, after a crash, replaces it. */
  add(line: number, { path, text, credential, call, target }: HeldRequest): void {
    const json = JSON.stringify(target)
    this.#storage.transactionSync(() => {
      const length = this.#store("request_pieces", line, `${text}\n`)
      this.#store("kept_pieces", line, JSON.stringify(call))
      // Few, since most requests of a batch have the same.
      this.#sql.exec("INSERT OR IGNORE INTO targets (json) VALUES (?)", json)
      const values = [line, path, length, credential, json] as const
      this.#sql.exec(
        `INSERT OR REPLACE INTO requests (line, path, length, credential, target)
         VALUES (?, ?, ?, ?, (SELECT id FROM targets WHERE json = ?))`,
        ...values,
      )
    })
  }

  /** Returns the number of bytes. */
  #store(table: "request_pieces" | "kept_pieces", line: number, text: string): number {
    const bytes = new TextEncoder().encode(text)
    this.#sql.exec(`DELETE FROM ${table} WHERE line = ?`, line)
    for (let piece = 0; piece * PIECE_BYTES < bytes.byteLength; piece++) {
      const some = bytes.slice(piece * PIECE_BYTES, (piece + 1) * PIECE_BYTES)
      this.#sql.exec(`INSERT INTO ${table} (line, piece, bytes) VALUES (?, ?, ?)`, line, piece, some.buffer)
    }
    return bytes.byteLength
  }

  /** The decisions about a request when it was held; undefined for one of an earlier release. */
  keptCall(line: number): KeptCall | undefined {
    const [found] = this.#sql
      .exec<{ json: string }>("SELECT json FROM requests JOIN targets ON id = target WHERE line = ?", line)
      .toArray()
    if (!found) return undefined
    const pieces = this.#sql
      .exec<{ bytes: ArrayBuffer }>("SELECT bytes FROM kept_pieces WHERE line = ? ORDER BY piece", line)
      .toArray()
    const text = new TextDecoder().decode(concat(pieces.map(({ bytes }) => new Uint8Array(bytes))))
    return { ...parseStored<Omit<KeptCall, "target">>(text), target: parseStored<KeptTarget>(found.json) }
  }

  has(line: number): boolean {
    return this.#sql.exec("SELECT 1 FROM requests WHERE line = ?", line).toArray().length > 0
  }

  /** Creates parts for all requests without one. Called when all of them are held. */
  plan(): void {
    this.#storage.transactionSync(() => {
      const rows = this.#sql
        .exec<{ line: number; path: string; length: number; credential: string | null }>(
          "SELECT line, path, length, credential FROM requests WHERE part IS NULL ORDER BY credential, path, line",
        )
        .toArray()
      let current = { part: this.#count(), path: "", credential: "" as string | null, bytes: 0, lines: 0 }
      for (const { line, path, length, credential } of rows) {
        const isFull = current.bytes + length > PART_BYTES || current.lines >= PART_LINES
        if (isFull || current.path !== path || current.credential !== credential) {
          current = { part: current.part + 1, path, credential, bytes: 0, lines: 0 }
          this.#sql.exec(
            `INSERT INTO parts (part, path, credential, state, is_cancelled, failures, due_at)
             VALUES (?, ?, ?, 'ready', 0, 0, 0)`,
            current.part,
            path,
            credential,
          )
        }
        current = { ...current, bytes: current.bytes + length, lines: current.lines + 1 }
        this.#sql.exec("UPDATE requests SET part = ? WHERE line = ?", current.part, line)
      }
    })
  }

  #count(): number {
    return this.#sql.exec<{ count: number }>("SELECT count(*) AS count FROM parts").one().count
  }

  /** Parts with results that are not read yet. */
  open(): Part[] {
    return this.#sql.exec<Part>("SELECT * FROM parts WHERE state <> 'done' ORDER BY part").toArray()
  }

  change(part: Part, change: Partial<Omit<Part, "part" | "path" | "credential">>): Part {
    const next = { ...part, ...change }
    this.#sql.exec(
      `UPDATE parts SET state = ?, file_id = ?, batch_id = ?, output_file_id = ?, error_file_id = ?, status = ?,
         message = ?, note = ?, is_cancelled = ?, failures = ?, due_at = ? WHERE part = ?`,
      next.state,
      next.file_id,
      next.batch_id,
      next.output_file_id,
      next.error_file_id,
      next.status,
      next.message,
      next.note,
      next.is_cancelled,
      next.failures,
      next.due_at,
      part.part,
    )
    return next
  }

  /** Ends a part that was not created at the provider. Its requests are held again. */
  putBack(part: Part): void {
    this.#storage.transactionSync(() => {
      const { part: id } = part
      this.#sql.exec(
        `UPDATE lines SET state = 'pending', attempts = 0, due_at = 0
         WHERE state = 'running' AND line IN (SELECT line FROM requests WHERE part = ?)`,
        id,
      )
      this.#sql.exec("DELETE FROM request_pieces WHERE line IN (SELECT line FROM requests WHERE part = ?)", id)
      this.#sql.exec("DELETE FROM requests WHERE part = ?", id)
      this.#sql.exec("DELETE FROM facts WHERE name = 'is_held'")
      this.change(part, { state: "done" })
    })
  }

  linesOf({ part }: Part): Set<number> {
    const rows = this.#sql.exec<{ line: number }>("SELECT line FROM requests WHERE part = ?", part)
    return new Set(rows.toArray().map(({ line }) => line))
  }

  /** Ids of the provider batches of the other parts. */
  idsOfOthers({ part }: Part): Set<string> {
    const rows = this.#sql.exec<{ id: string }>(
      "SELECT batch_id AS id FROM parts WHERE part <> ? AND batch_id IS NOT NULL",
      part,
    )
    return new Set(rows.toArray().map(({ id }) => id))
  }

  /** The JSONL of a part. */
  content({ part }: Part): Uint8Array<ArrayBuffer>[] {
    return this.#sql
      .exec<{ bytes: ArrayBuffer }>(
        "SELECT bytes FROM request_pieces JOIN requests USING (line) WHERE part = ? ORDER BY line, piece",
        part,
      )
      .toArray()
      .map(({ bytes }) => new Uint8Array(bytes))
  }

  /** Held requests of a part without a result. */
  unfinished({ part }: Part): number[] {
    return this.#lines("part = ?", part)
  }

  /** Held requests without a part. */
  unplanned(): number[] {
    return this.#lines("part IS NULL")
  }

  #lines(condition: string, ...bindings: number[]): number[] {
    return this.#sql
      .exec<{ line: number }>(
        `SELECT line FROM requests JOIN lines USING (line)
         WHERE state IN ('pending', 'running') AND ${condition} ORDER BY line`,
        ...bindings,
      )
      .toArray()
      .map(({ line }) => line)
  }
}
