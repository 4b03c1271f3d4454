import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs"
import path from "node:path"
import { Failure } from "../failure.ts"
import { parseStored } from "../../support/json.ts"

/** A file that `connect` wrote: its backup, or null if it did not exist, and the hash of what was written. */
export type Written = { path: string; backup: string | null; sha256: string }
type State = Partial<Record<string, Written[]>>

const stateFile = (home: string) => path.join(home, ".config/edge-model-gateway/connect.json")
const BACKUP = ".before-gateway"

export function readText(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, "utf8") : undefined
}

export function writtenFor(home: string, client: string): Written[] {
  return readState(home)[client] ?? []
}

function readState(home: string): State {
  return parseStored<State>(readText(stateFile(home)) ?? "{}")
}

/** Writes the files of a client. The backup of the first time stays: it is what the user had. */
export function writeFiles(home: string, client: string, files: readonly { path: string; text: string }[]): Written[] {
  const before = writtenFor(home, client)
  const written = files.map(({ path: file, text }) => {
    const known = before.find((entry) => entry.path === file)
    const present = readText(file)
    const backup = known ? known.backup : present === undefined ? null : backUp(file, present)
    writePrivate(file, text)
    return { path: file, backup, sha256: hashOf(text) }
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

/** Restores what the user had. Throws if a file was changed since, unless forced. */
export function undo(home: string, client: string, isForced: boolean): Written[] {
  const written = writtenFor(home, client)
  if (written.length === 0) throw new Failure(`${client} is not connected by this command: nothing to undo.`)
  for (const { path: file, sha256, backup } of written) {
    const text = readText(file)
    if (isForced || text === undefined || hashOf(text) === sha256) continue
    const remedy = backup === null ? "Remove the gateway's lines by hand" : `Compare it with ${backup}`
    throw new Failure(`${file} was changed since it was connected. ${remedy}, or pass --force to lose the changes.`)
  }
  for (const { path: file, backup } of written) {
    if (backup === null) rmSync(file, { force: true })
    else {
      writePrivate(file, readFileSync(backup, "utf8"))
      rmSync(backup)
    }
  }
  saveState(home, { ...readState(home), [client]: undefined })
  return written
}

function saveState(home: string, state: State): void {
  writePrivate(stateFile(home), `${JSON.stringify(state, null, 2)}\n`)
}

/** For the user alone, and never half written. A link stays one: settings are often linked to a repository. */
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
