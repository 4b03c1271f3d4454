import type { InMemoryFs } from "just-bash/browser"
import { foldersOf, HOME, MAX_FILE_BYTES, type HomeFile, type HomePage } from "../home.ts"

const MAX_DISK_BYTES = 16 * 1024 * 1024
const MAX_FILES = 2_000

type FileRow = { path: string; body: ArrayBuffer; mode: number }
/** The files of a disk at one time, by path. */
export type DiskSnapshot = ReadonlyMap<string, { content: Uint8Array; mode: number }>

/** Fits the largest file. */
const PAGE_BYTES = MAX_FILE_BYTES

/** The files of an intern, as rows of its object. Paths are absolute and below HOME. */
export class Disk {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
    sql.exec(
      "CREATE TABLE IF NOT EXISTS disk (path TEXT PRIMARY KEY, body BLOB NOT NULL, mode INTEGER NOT NULL) STRICT",
    )
  }

  paths(): string[] {
    return [...this.#sql.exec<{ path: string }>("SELECT path FROM disk ORDER BY path")].map(({ path }) => path)
  }

  list(): { path: string; bytes: number }[] {
    return [
      ...this.#sql.exec<{ path: string; bytes: number }>("SELECT path, length(body) AS bytes FROM disk ORDER BY path"),
    ]
  }

  read(path: string): Uint8Array | undefined {
    const [row] = this.#sql.exec<FileRow>("SELECT path, body, mode FROM disk WHERE path = ?", path)
    return row && new Uint8Array(row.body)
  }

  /** Writes a file. Returns an error text if it was not written. */
  write(path: string, body: Uint8Array, mode = 0o644): string | undefined {
    const { bytes, files } = this.#used(path)
    if (body.byteLength > MAX_FILE_BYTES) return `${path}: a file may have at most ${MAX_FILE_BYTES} bytes.`
    if (bytes + body.byteLength > MAX_DISK_BYTES) return `The disk is full: it holds ${MAX_DISK_BYTES} bytes.`
    if (files >= MAX_FILES) return `The disk is full: it holds ${MAX_FILES} files.`
    const pathConflict = this.#pathConflict(path)
    if (pathConflict !== undefined) return pathConflict
    this.#sql.exec(
      "INSERT INTO disk (path, body, mode) VALUES (?, ?, ?) ON CONFLICT (path) DO UPDATE SET body = excluded.body, mode = excluded.mode",
      path,
      // A Buffer may be a view of a larger one, and so may its `slice`.
      new Uint8Array(body).buffer,
      mode,
    )
    return undefined
  }

  /** The shell cannot open a disk on which a file is also a folder. */
  #pathConflict(path: string): string | undefined {
    const file = foldersOf(path).find((folder) => this.read(folder) !== undefined)
    if (file !== undefined) return `${path}: cannot be written, because ${file} is a file.`
    // "0" comes after "/".
    const below = this.#sql.exec("SELECT 1 FROM disk WHERE path > ? AND path < ? LIMIT 1", `${path}/`, `${path}0`)
    return [...below].length === 0 ? undefined : `${path}: cannot be written, because it is a folder.`
  }

  /** Use of the disk without the file at `path`. */
  #used(path: string): { bytes: number; files: number } {
    return this.#sql
      .exec<{ bytes: number; files: number }>(
        "SELECT coalesce(sum(length(body)), 0) AS bytes, count(*) AS files FROM disk WHERE path <> ?",
        path,
      )
      .one()
  }

  remove(path: string): void {
    this.#sql.exec("DELETE FROM disk WHERE path = ?", path)
  }

  /** Files in path order, with their content. `after`: the last path of the previous page. */
  page(after: string): HomePage {
    const rows = this.#sql.exec<FileRow>("SELECT path, body, mode FROM disk WHERE path > ? ORDER BY path", after)
    const files: HomeFile[] = []
    let bytes = 0
    for (const { path, body, mode } of rows) {
      bytes += body.byteLength
      if (files.length > 0 && bytes > PAGE_BYTES) return { files, next: files.at(-1)?.path ?? null }
      files.push({ path, body: new Uint8Array(body), mode })
    }
    return { files, next: null }
  }

  /** All files, as a command finds them. */
  snapshot(): DiskSnapshot {
    const rows = this.#sql.exec<FileRow>("SELECT path, body, mode FROM disk")
    return new Map([...rows].map(({ path, body, mode }) => [path, { content: new Uint8Array(body), mode }]))
  }

  /**
   * Saves what a command changed since its snapshot. Other files stay as they are now: another session or a client may
   * have changed them meanwhile. Returns error texts for files that could not be saved.
   */
  async takeOver(fs: InMemoryFs, before: DiskSnapshot): Promise<string[]> {
    const found = new Set<string>()
    const changed: HomeFile[] = []
    for (const path of fs.getAllPaths()) {
      if (!path.startsWith(`${HOME}/`)) continue
      const { isFile, mode } = await fs.lstat(path)
      if (!isFile) continue
      found.add(path)
      const body = await fs.readFileBuffer(path)
      const file = before.get(path)
      if (file?.mode !== mode || !isSame(file.content, body)) changed.push({ path, body, mode })
    }
    for (const path of before.keys()) if (!found.has(path)) this.remove(path)
    return changed.flatMap(({ path, body, mode }) => this.write(path, body, mode) ?? [])
  }
}

/** Initial files for the shell. */
export function shellFiles(snapshot: DiskSnapshot): Record<string, { content: Uint8Array; mode: number }> {
  // Earlier releases accepted such paths, which the shell cannot open.
  return Object.fromEntries([...snapshot].filter(([path]) => !path.includes("\0")))
}

function isSame(a: Uint8Array | undefined, b: Uint8Array): boolean {
  return a !== undefined && a.byteLength === b.byteLength && a.every((byte, index) => byte === b[index])
}
