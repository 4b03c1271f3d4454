import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs"
import path from "node:path"
import { type ClientName, setupOf } from "../../connect/clients.ts"
import { NotEditable } from "../../connect/config-files.ts"
import { Failure } from "../failure.ts"
import { parseStored } from "../../support/text/json.ts"

/** `settings`: the gateway's settings in `text`. */
export type FileEdit = { path: string; before: string | undefined; text: string; settings: string }

/**
 * A file that `connect` wrote: its backup, or null if it did not exist; the hash of the written text, and that of the
 * gateway's settings in it, which earlier versions did not store.
 */
export type Written = { path: string; backup: string | null; sha256: string; settings_sha256?: string }
/** `keeps_changes`: other settings that were changed after connecting are still there. `removed`: there was no file before. */
export type Undone = { path: string; keeps_changes: boolean; removed: boolean }
type State = Partial<Record<string, Written[]>>

const stateFile = (home: string) => path.join(home, ".config/edge-model-gateway/connect.json")
const BACKUP = ".before-gateway"

export function readText(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, "utf8") : undefined
}

export function filesWrittenFor(home: string, client: string): Written[] {
  return readState(home)[client] ?? []
}

function readState(home: string): State {
  return parseStored<State>(readText(stateFile(home)) ?? "{}")
}

/** Writes the files of a client. The first backup is kept: it has the user's original settings. */
export function writeFiles(home: string, client: string, files: readonly FileEdit[]): Written[] {
  const before = filesWrittenFor(home, client)
  const written = files.map(({ path: file, text, settings }) => {
    const previous = before.find((entry) => entry.path === file)
    const present = readText(file)
    const backup = previous ? previous.backup : present === undefined ? null : backUp(file, present)
    writePrivate(file, text)
    // Edits between two connects are in no backup. With the former hash, which does not match, undo keeps them.
    const isChanged = previous !== undefined && present !== undefined && hashOf(present) !== previous.sha256
    const sha256 = isChanged ? previous.sha256 : hashOf(text)
    return { path: file, backup, sha256, settings_sha256: hashOf(settings) }
  })
  saveState(home, { ...readState(home), [client]: written })
  return written
}

function backUp(file: string, text: string): string {
  let backup = `${file}${BACKUP}`
  for (let at = 2; existsSync(backup); at++) backup = `${file}${BACKUP}-${at}`
  writePrivate(backup, text)
  return backup
}

/**
 * Restores the user's files. In a file that was changed since, only the gateway's settings are undone; throws if those
 * were changed themselves, unless forced.
 */
export function undo(home: string, client: ClientName, isForced: boolean): Undone[] {
  const written = filesWrittenFor(home, client)
  if (written.length === 0) throw new Failure(`${client} is not connected by this command: nothing to undo.`)
  const restored = written.map((entry) => {
    const text = readText(entry.path)
    const before = entry.backup === null ? undefined : readFileSync(entry.backup, "utf8")
    const isAsWritten = isForced || text === undefined || hashOf(text) === entry.sha256
    return {
      ...entry,
      after: isAsWritten ? before : withoutSettings({ home, client, text, before }, entry),
      isAsWritten,
    }
  })
  for (const { path: file, after, backup } of restored) {
    if (after === undefined) rmSync(file, { force: true })
    else writePrivate(file, after)
    if (backup !== null) rmSync(backup)
  }
  saveState(home, { ...readState(home), [client]: undefined })
  return restored.map(({ path: file, after, isAsWritten }) => {
    return { path: file, keeps_changes: !isAsWritten, removed: after === undefined }
  })
}

type Changed = { home: string; client: ClientName; text: string; before: string | undefined }

function withoutSettings({ home, client, text, before }: Changed, written: Written): string | undefined {
  const { files } = setupOf(client, { home, base: "", key: "", model: "", models: [] })
  const file = files.find(({ path: entryPath }) => entryPath === written.path)
  try {
    if (file && hashOf(file.settings(text)) === written.settings_sha256) return file.restore(text, before)
  } catch (thrown) {
    if (!(thrown instanceof NotEditable)) throw thrown
  }
  const remedy = written.backup === null ? "Remove the gateway's lines by hand" : `Compare it with ${written.backup}`
  throw new Failure(
    `${written.path} was changed since it was connected. ${remedy}, or pass --force to lose the changes.`,
  )
}

export function describeUndone(undone: readonly Undone[]): string[] {
  return undone.map(({ path: file, keeps_changes, removed }) => {
    if (removed) return `removed   ${file}`
    return keeps_changes ? `restored  ${file}, with the other changes since` : `restored  ${file}`
  })
}

function saveState(home: string, state: State): void {
  writePrivate(stateFile(home), `${JSON.stringify(state, null, 2)}\n`)
}

/**
 * Readable by the user only, and written atomically. A symbolic link is kept: settings are often linked to a
 * repository.
 */
function writePrivate(file: string, text: string): void {
  const target = existsSync(file) ? realpathSync(file) : file
  mkdirSync(path.dirname(target), { recursive: true })
  const draft = `${target}.${process.pid}.tmp`
  writeFileSync(draft, text, { mode: 0o600 })
  renameSync(draft, target)
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex")
}
