import type { Json } from "../../support/text/json.ts"
import { list, record, text } from "./acp/acp-values.ts"

type Diff = { path: string; before: string | null; after: string }

/** The exact operation of a tool call, as reported by the agent. Long texts are cut in the middle. */
export type PermissionDetails = {
  command?: string
  /** The working directory of the command. */
  folder?: string
  url?: string
  /** Files that the tool touches. */
  paths?: string[]
  diffs?: Diff[]
  /** The arguments of the tool as JSON, if no other field applies. */
  input?: string
}

export const MAX_DETAIL_LENGTH = 8_000
const MAX_DIFFS = 5
const MAX_PATHS = 20

const COMMAND_FIELDS = ["command", "cmd", "script"]
const FOLDER_FIELDS = ["cwd", "workdir", "workingDirectory", "directory"]
const URL_FIELDS = ["url", "uri"]
const PATH_FIELDS = ["file_path", "filePath", "filepath", "path", "notebook_path", "absolute_path"]
const BEFORE_FIELDS = ["old_string", "oldString", "old_text"]
const AFTER_FIELDS = ["new_string", "newString", "new_text", "content"]

type Reading = {
  isCommandInTitle?: boolean
  /** Default working directory of a command. */
  cwd?: string | undefined
}

/** `call`: a tool call, such as that of a permission request. Agents put a command into its input or its title. */
export function permissionDetails(
  call: Json,
  operation: string | null,
  { isCommandInTitle = true, cwd }: Reading = {},
): PermissionDetails {
  const input = record(call["rawInput"])
  const title = text(call["title"])
  const isTitleRead = isCommandInTitle && title !== undefined && title !== operation
  const command = commandOf(input) ?? (isTitleRead ? commandInTitle(title) : undefined)
  const folder = firstText(input, FOLDER_FIELDS) ?? (command === undefined ? undefined : cwd)
  const url = firstText(input, URL_FIELDS)
  const diffs = diffsOf(call, input).slice(0, MAX_DIFFS)
  const changed = new Set(diffs.map(({ path }) => path))
  const paths = pathsOf(call, input).filter((path) => !changed.has(path))
  const isShown = command !== undefined || url !== undefined || diffs.length > 0
  const rest = isShown || Object.keys(input).length === 0 ? undefined : JSON.stringify(input)
  return {
    ...(command !== undefined && { command: truncateMiddle(command) }),
    ...(folder !== undefined && { folder: truncateMiddle(folder) }),
    ...(url !== undefined && { url: truncateMiddle(url) }),
    ...(paths.length > 0 && { paths }),
    ...(diffs.length > 0 && { diffs }),
    ...(rest !== undefined && { input: truncateMiddle(rest) }),
  }
}

/** Keeps both ends, since either may show the effect of a text. The middle has the number of omitted characters. */
export function truncateMiddle(uncut: string, limit = MAX_DETAIL_LENGTH): string {
  if (uncut.length <= limit) return uncut
  const [head, tail] = [Math.ceil(limit / 2), Math.floor(limit / 2)]
  const missing = uncut.length - head - tail
  return `${uncut.slice(0, head)} … (${missing} of ${uncut.length} characters left out) … ${uncut.slice(-tail)}`
}

function commandOf(input: Json): string | undefined {
  for (const field of COMMAND_FIELDS) {
    const value = input[field]
    if (typeof value === "string") return value
    const argv = list(value).filter((argument) => typeof argument === "string")
    if (argv.length > 0) return argv.join(" ")
  }
  return undefined
}

/** Strips backticks that some agents put around a command. */
function commandInTitle(title: string): string {
  return /^`([^`]+)`$/.exec(title)?.[1] ?? title
}

/** The diffs of the agent, and the input of an edit that they do not contain completely. */
function diffsOf(call: Json, input: Json): Diff[] {
  const sent = sentDiffs(call)
  const complete = new Set(sent.filter(isComplete).map(({ path }) => path))
  return [...sent, ...editIn(input).filter(({ path }) => !complete.has(path))].map(({ path, before, after }) => {
    return { path, before: before === null ? null : truncateMiddle(before), after: truncateMiddle(after) }
  })
}

function isComplete({ before, after }: Diff): boolean {
  return [before ?? "", after].every((text) => text.length <= MAX_DETAIL_LENGTH)
}

function sentDiffs(call: Json): Diff[] {
  return list(call["content"]).flatMap((content) => {
    const { type, path, oldText, newText } = record(content)
    if (type !== "diff" || typeof path !== "string" || typeof newText !== "string") return []
    return [{ path, before: text(oldText) ?? null, after: newText }]
  })
}

function editIn(input: Json): Diff[] {
  const [path, after] = [firstText(input, PATH_FIELDS), firstText(input, AFTER_FIELDS)]
  if (path === undefined || after === undefined) return []
  return [{ path, before: firstText(input, BEFORE_FIELDS) ?? null, after }]
}

function pathsOf(call: Json, input: Json): string[] {
  const located = list(call["locations"]).map((location) => text(record(location)["path"]))
  const paths = [firstText(input, PATH_FIELDS), ...located].filter((path) => path !== undefined)
  return [...new Set(paths)].slice(0, MAX_PATHS).map((path) => truncateMiddle(path))
}

function firstText(input: Json, fields: readonly string[]): string | undefined {
  return fields.map((field) => text(input[field])).find((value) => value !== undefined)
}
